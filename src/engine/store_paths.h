// How decisions came about where the store is shared: one count for each limit of each request.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/counters.h"

namespace weir::engine {

enum class StorePath : std::uint8_t {
  shared,  // by the store
  local,   // by this process's share of the limit, the store being away
  open,    // not at all: the limit lets everything pass then
  closed,  // not at all: the limit lets nothing pass then
};

inline constexpr std::size_t store_path_kinds = 4;
inline constexpr std::array<std::string_view, store_path_kinds> store_path_names{"shared", "local", "open", "closed"};

class StorePaths {
 public:
  void raise(StorePath path) noexcept { counts_[static_cast<std::size_t>(path)].raise(); }
  [[nodiscard]] std::uint64_t value(StorePath path) const noexcept {
    return counts_[static_cast<std::size_t>(path)].value();
  }

 private:
  std::array<Count, store_path_kinds> counts_;
};

using StorePathTotals = std::array<std::uint64_t, store_path_kinds>;

}  // namespace weir::engine
