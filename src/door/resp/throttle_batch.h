// CL.THROTTLE commands that came together: decided in their order. The state of each is on its way into the cache from
// the moment it is added, while the next ones are read. One per loop; empty between two reads.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "core/algorithm/gcra.h"
#include "door/resp/throttle_counts.h"
#include "store/local/throttle_table.h"
#include "table/cells.h"
#include "weir/cost.h"
#include "weir/time.h"

namespace weir::door {

class ThrottleBatch {
 public:
  static constexpr std::size_t most = 64;

  ThrottleBatch(store::ThrottleTable& table, ThrottleCounts& counts) noexcept : table_(table), counts_(counts) {}

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] bool full() const noexcept { return size_ == most; }

  // It is not full. The limit stays until answer().
  void add(std::string_view key, const core::Gcra::Limit& limit, Cost quantity) noexcept {
    const table::KeyHash hash = table_.hash(key);
    table_.prefetch(hash);
    asks_[size_++] = {hash, &limit, quantity};
  }

  // Forgets what was added and not answered.
  void clear() noexcept { size_ = 0; }

  // Appends the replies, and is empty.
  void answer(Instant now, std::string& out);

 private:
  struct Ask {
    table::KeyHash key;
    const core::Gcra::Limit* limit;
    Cost quantity;
  };

  store::ThrottleTable& table_;
  ThrottleCounts& counts_;
  std::size_t size_ = 0;
  std::array<Ask, most> asks_;
};

}  // namespace weir::door
