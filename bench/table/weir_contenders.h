// Weir's keyed table, through the public API: one key at a time, and in batches of 32.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "table/contender.h"
#include "weir/keyed_limiter.h"

namespace bench::table {

// The block's keys as requests, reused for each block, like in a server.
inline std::span<const weir::KeyedLimiter::Request> requests_for(const KeyBlock& block) {
  static thread_local std::array<weir::KeyedLimiter::Request, block_length> requests;
  for (std::size_t i = 0; i < block_length; ++i) requests[i].key = block[i];
  return requests;
}

// Returns a bool, like the baselines.
class WeirSingle {
 public:
  explicit WeirSingle(Quota quota);

  bool decide(std::string_view key) { return limiter_.admit(key); }
  std::size_t decide(const KeyBlock& block) { return decide_one_by_one(*this, block); }

 private:
  weir::KeyedLimiter limiter_;
};

class WeirBatch {
 public:
  explicit WeirBatch(Quota quota);

  bool decide(std::string_view key) { return limiter_.admit(key); }

  std::size_t decide(const KeyBlock& block) {
    std::array<bool, block_length> admitted;
    limiter_.admit(requests_for(block), admitted);
    return static_cast<std::size_t>(std::count(admitted.begin(), admitted.end(), true));
  }

 private:
  weir::KeyedLimiter limiter_;
};

// Returns a whole Decision: remaining, retry_after and reset_after.
class WeirCheckSingle {
 public:
  explicit WeirCheckSingle(Quota quota);

  bool decide(std::string_view key) { return limiter_.check(key).admitted; }
  std::size_t decide(const KeyBlock& block) { return decide_one_by_one(*this, block); }

 private:
  weir::KeyedLimiter limiter_;
};

class WeirCheckBatch {
 public:
  explicit WeirCheckBatch(Quota quota);

  bool decide(std::string_view key) { return limiter_.check(key).admitted; }

  std::size_t decide(const KeyBlock& block) {
    // Reused for each block, like in a server.
    static thread_local std::array<weir::Decision, block_length> decisions;
    limiter_.check(requests_for(block), decisions);
    std::size_t admitted = 0;
    for (const weir::Decision& decision : decisions) admitted += decision.admitted ? 1U : 0U;
    return admitted;
  }

 private:
  weir::KeyedLimiter limiter_;
};

static_assert(Contender<WeirSingle> && Contender<WeirBatch>);
static_assert(Contender<WeirCheckSingle> && Contender<WeirCheckBatch>);

}  // namespace bench::table
