// CL.THROTTLE commands that came together: decided in their order. The state of each is on its way into the cache from
// the moment its key is known, while its numbers and the next commands are read. One per loop; empty between two reads.
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

  // What add() wants of a key: the sooner, the more of its way into the cache is over by then.
  [[nodiscard]] table::KeyHash seek(std::string_view key) const noexcept { return table_.seek(key); }

  // It is not full. The limit stays until answer().
  void add(table::KeyHash key, const core::Gcra::Limit& limit, Cost quantity) noexcept {
    asks_[size_++] = {key, &limit, quantity};
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
