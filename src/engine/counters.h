// What happened, in numbers: per limit and route. Each judge counts for itself, on memory of its own, and anyone may
// read while it counts.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace weir::engine {

enum class Event : std::uint8_t {
  admitted,
  denied,
  uncharged,      // would have admitted, but another limit denied
  warned,         // admitted with a warning
  blocked,        // denied by a penalty
  shadow_denied,  // a shadow limit would have
  skipped,        // no key, and the limit says skip
  shared,         // no key, and all such share a counter
  unlimited,      // a tier without a limit
  candidate_agrees,
  candidate_newly_denied,
  candidate_newly_admitted,
};

inline constexpr std::size_t event_kinds = 12;

// A number that one thread raises and others read.
class Count {
 public:
  void raise(std::uint64_t by = 1) noexcept { value_.store(value() + by, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

using EventCounts = std::array<Count, event_kinds>;
using EventTotals = std::array<std::uint64_t, event_kinds>;

// Rows are (limit, route) pairs, numbered by the plan.
class Counters {
 public:
  explicit Counters(std::size_t rows) : rows_(std::make_unique<EventCounts[]>(rows)), count_(rows) {}

  void raise(std::size_t row, Event event) noexcept { rows_[row][static_cast<std::size_t>(event)].raise(); }
  void add_to(std::vector<EventTotals>& totals) const noexcept {
    for (std::size_t row = 0; row < count_; ++row) {
      for (std::size_t kind = 0; kind < event_kinds; ++kind) totals[row][kind] += rows_[row][kind].value();
    }
  }

  Count ignored_headers;  // requests that claimed what only a trusted proxy may
  Count unknown_tiers;
  Count uncovered;

 private:
  std::unique_ptr<EventCounts[]> rows_;
  std::size_t count_;
};

}  // namespace weir::engine
