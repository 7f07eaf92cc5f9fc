// CL.THROTTLE commands that came together: decided in their order, with the memory latencies overlapped. One per loop;
// empty between two reads.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "core/algorithm/gcra.h"
#include "engine/counters.h"
#include "store/local/throttle_table.h"
#include "table/cells.h"
#include "weir/cost.h"
#include "weir/time.h"

namespace weir::door {

struct ThrottleCounts {
  engine::Count allowed;
  engine::Count limited;
};

class ThrottleBatch {
 public:
  static constexpr std::size_t most = 64;

  explicit ThrottleBatch(store::ThrottleTable& table) noexcept : table_(table) {}

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] bool full() const noexcept { return size_ == most; }

  // It is not full. The key and the limit stay until answer().
  void add(std::string_view key, const core::Gcra::Limit& limit, Cost quantity) noexcept {
    keys_[size_] = key;
    asks_[size_++] = {&limit, quantity};
  }

  // Forgets what was added and not answered.
  void clear() noexcept { size_ = 0; }

  // Appends the replies, and is empty.
  void answer(Instant now, std::string& out);

  [[nodiscard]] const ThrottleCounts& counts() const noexcept { return counts_; }

 private:
  struct Ask {
    const core::Gcra::Limit* limit;
    Cost quantity;
  };

  store::ThrottleTable& table_;
  std::size_t size_ = 0;
  std::array<std::string_view, most> keys_;
  std::array<Ask, most> asks_;
  std::array<table::KeyHash, most> hashes_;
  ThrottleCounts counts_;
};

}  // namespace weir::door
