// Weir's keyed table, through the public API: one key at a time, and 32 at once.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "table/contender.h"
#include "weir/keyed_limiter.h"

namespace bench::table {

class WeirSingle {
 public:
  explicit WeirSingle(Quota quota);

  bool decide(std::string_view key) { return limiter_.check(key).admitted; }
  std::size_t decide(const KeyBlock& block) { return decide_one_by_one(*this, block); }

 private:
  weir::KeyedLimiter limiter_;
};

class WeirBatch {
 public:
  explicit WeirBatch(Quota quota);

  bool decide(std::string_view key) { return limiter_.check(key).admitted; }

  std::size_t decide(const KeyBlock& block) {
    // Kept from one block to the next, as a server keeps them.
    static thread_local std::array<weir::KeyedLimiter::Request, block_length> requests;
    static thread_local std::array<weir::Decision, block_length> decisions;
    for (std::size_t i = 0; i < block_length; ++i) requests[i].key = block[i];
    limiter_.check(requests, decisions);
    std::size_t admitted = 0;
    for (const weir::Decision& decision : decisions) admitted += decision.admitted ? 1U : 0U;
    return admitted;
  }

 private:
  weir::KeyedLimiter limiter_;
};

static_assert(Contender<WeirSingle> && Contender<WeirBatch>);

}  // namespace bench::table
