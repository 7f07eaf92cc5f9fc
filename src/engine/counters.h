// Counts of events by limit and route. Each evaluator has its own counters, which any thread may read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/counter.h"
#include "store/store.h"

namespace weir::engine {

enum class Event : std::uint8_t {
  admitted,
  denied,
  uncharged,      // would have admitted, but another limit denied
  warned,         // admitted with a warning
  blocked,        // denied by a penalty
  shadow_denied,  // a shadow limit would have denied
  skipped,        // no key, with `missing: skip`
  shared,         // no key, with `missing: share`
  unlimited,      // a tier without a limit
  candidate_agrees,
  candidate_newly_denied,
  candidate_newly_admitted,
  usage_mismatch,  // charged in a way other than the limit's `usage` declares
};

inline constexpr std::size_t event_kinds = 13;

using EventCounts = std::array<base::Counter, event_kinds>;
using EventTotals = std::array<std::uint64_t, event_kinds>;

// Rows are (limit, route) pairs, numbered by Bindings.
class Counters {
 public:
  // `labels` is the number of Matcher::labels().
  Counters(std::size_t rows, std::size_t labels)
      : rows_(std::make_unique<EventCounts[]>(rows)), count_(rows), denied_(labels) {}

  void raise(std::size_t row, Event event) noexcept { rows_[row][static_cast<std::size_t>(event)].raise(); }
  void add_to(std::vector<EventTotals>& totals) const noexcept {
    for (std::size_t row = 0; row < count_; ++row) {
      for (std::size_t kind = 0; kind < event_kinds; ++kind) totals[row][kind] += rows_[row][kind].value();
    }
  }

  // Counts a denied request once, whatever the number of limits that deny it. `label` is the route that it matched.
  void raise_denied(std::uint32_t label) noexcept { denied_[label].raise(); }
  [[nodiscard]] std::uint64_t denied(std::size_t label) const noexcept { return denied_[label].value(); }

  base::Counter ignored_headers;  // requests with headers that only a trusted proxy may set
  base::Counter unknown_tiers;
  base::Counter uncovered;
  base::Counter shadow_only;
  base::Counter exempt;
  base::Counter blocked;     // requests that an operator's block denied
  base::Counter overridden;  // decisions by the numbers of an override

 private:
  std::unique_ptr<EventCounts[]> rows_;
  std::size_t count_;
  std::vector<base::Counter> denied_;  // by label
};

// Counts how each decision was made if the store is shared: one count for each limit of each request.
using store::Path;

inline constexpr std::size_t store_path_kinds = 6;
inline constexpr std::array<std::string_view, store_path_kinds> store_path_names{"shared", "leased", "approximate",
                                                                                 "local",  "open",   "closed"};

class StorePaths {
 public:
  void raise(Path path) noexcept { counts_[static_cast<std::size_t>(path)].raise(); }
  [[nodiscard]] std::uint64_t value(Path path) const noexcept {
    return counts_[static_cast<std::size_t>(path)].value();
  }

 private:
  std::array<base::Counter, store_path_kinds> counts_;
};

using StorePathTotals = std::array<std::uint64_t, store_path_kinds>;

}  // namespace weir::engine
