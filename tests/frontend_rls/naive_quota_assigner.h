// The first, simple version of QuotaAssigner: every call visits all holders and divides again. The oracle for the fast
// one, which documents the same functions.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "frontend/rls/quota_assigner.h"
#include "weir/cost.h"
#include "weir/limit.h"
#include "weir/time.h"

namespace weir::frontend {

class NaiveQuotaAssigner {
 public:
  using Numbers = QuotaAssigner::Numbers;
  using Share = QuotaAssigner::Share;
  using Holder = std::uint64_t;

  static constexpr std::uint64_t min_per_fill = 100;
  static constexpr std::chrono::seconds max_fill = std::chrono::days{365};
  static constexpr std::size_t max_assignments = 8;

  NaiveQuotaAssigner(const Numbers& numbers, Instant now);

  void change(const Numbers& numbers, Instant now);
  [[nodiscard]] const Numbers& numbers() const noexcept { return numbers_; }
  [[nodiscard]] std::chrono::seconds fill_interval() const noexcept { return fill_; }

  [[nodiscard]] Holder join();
  void leave(Holder holder);
  void set_demand(Holder holder, std::uint64_t requests, Cost each, Duration over);

  [[nodiscard]] Share fair(Holder holder);
  [[nodiscard]] Share offer(Holder holder, Instant now);
  void assign(Holder holder, const Share& share, Instant now, Instant until);
  void extend(Holder holder, Instant until);

  [[nodiscard]] bool is_overdrawn() const noexcept { return is_overdrawn_; }
  [[nodiscard]] bool is_pristine(Instant now);

  [[nodiscard]] std::uint64_t pool(Instant now);
  [[nodiscard]] std::uint64_t assigned_burst() const noexcept { return assigned_burst_; }
  [[nodiscard]] std::uint64_t assigned_per_fill() const noexcept { return assigned_per_fill_; }
  [[nodiscard]] std::uint64_t per_fill() const noexcept { return per_fill_; }

 private:
  __extension__ using Wide = __int128;

  struct Assignment {
    Share share;
    Instant until;
  };
  struct State {
    bool has_left = false;
    std::optional<std::uint64_t> demand;  // per fill interval; none: unknown
    Share fair;
    std::vector<Assignment> assignments;  // the latest is last

    [[nodiscard]] std::uint64_t per_fill() const noexcept;
  };

  void set_numbers(const Numbers& numbers);
  void advance(Instant now);
  void fill_until(Instant now);
  void expire_assignments(Instant now);
  void sum_up() noexcept;
  void divide();
  [[nodiscard]] Wide fill_micros() const noexcept { return Duration(fill_).count(); }
  // The part of the pool reserved for lowering rates.
  [[nodiscard]] std::uint64_t reserve() const noexcept;

  Numbers numbers_;
  std::uint64_t burst_ = 0;
  std::chrono::seconds fill_{1};
  std::uint64_t per_fill_ = 0;  // units of the limit per fill interval
  Instant at_;
  Wide pool_ = 0;  // in units x microseconds of the fill interval
  std::map<Holder, State> holders_;
  Holder next_ = 0;
  std::uint64_t assigned_burst_ = 0;
  std::uint64_t assigned_per_fill_ = 0;
  Instant next_end_ = Instant::max();  // no assignment expires earlier
  bool is_overdrawn_ = false;
  bool is_divided_ = false;
};

namespace naive_quota {

__extension__ using Exact = __int128;

// The maximum of the fields of Envoy's token bucket.
inline constexpr std::uint64_t max_units = UINT32_MAX;

inline std::uint64_t clamped(Exact number, std::uint64_t most) noexcept {
  return number > Exact{most} ? most : static_cast<std::uint64_t>(number);
}

inline Exact rounded_up(Exact number, Exact by) noexcept {
  return (number + by - 1) / by;
}

}  // namespace naive_quota

inline std::uint64_t NaiveQuotaAssigner::State::per_fill() const noexcept {
  std::uint64_t largest = 0;
  for (const Assignment& assignment : assignments) largest = std::max(largest, assignment.share.per_fill);
  return largest;
}

inline NaiveQuotaAssigner::NaiveQuotaAssigner(const Numbers& numbers, Instant now) : at_(now) {
  set_numbers(numbers);
  pool_ = Wide{burst_} * fill_micros();
}

inline void NaiveQuotaAssigner::set_numbers(const Numbers& numbers) {
  numbers_ = numbers;
  burst_ = std::min(numbers.burst, naive_quota::max_units);
  const Wide per = std::max<Duration::rep>(numbers.rate.per.count(), 1);
  const Wide count = std::max<std::uint64_t>(numbers.rate.count, 1);
  const Wide second = Duration(std::chrono::seconds(1)).count();
  const auto longest = static_cast<std::uint64_t>(max_fill.count());
  const std::uint64_t seconds =
      naive_quota::clamped(naive_quota::rounded_up(per * min_per_fill, count * second), longest);
  fill_ = std::chrono::seconds(std::max<std::uint64_t>(seconds, 1));
  per_fill_ = naive_quota::clamped(Wide{numbers.rate.count} * fill_micros() / per, naive_quota::max_units);
}

inline void NaiveQuotaAssigner::change(const Numbers& numbers, Instant now) {
  advance(now);
  const Wide before = fill_micros();
  set_numbers(numbers);
  for (auto& [holder, state] : holders_) {
    if (state.demand)
      state.demand = naive_quota::clamped(Wide{*state.demand} * fill_micros() / before, naive_quota::max_units);
    for (Assignment& assignment : state.assignments) {
      assignment.share.per_fill = naive_quota::clamped(
          naive_quota::rounded_up(Wide{assignment.share.per_fill} * fill_micros(), before), naive_quota::max_units);
    }
  }
  sum_up();
  const Wide room = std::max<Wide>(0, Wide{burst_} - Wide{assigned_burst_});
  pool_ = std::min(pool_ / before, room) * fill_micros();
  is_divided_ = false;
}

inline NaiveQuotaAssigner::Holder NaiveQuotaAssigner::join() {
  holders_.emplace(next_, State{});
  is_divided_ = false;
  return next_++;
}

inline void NaiveQuotaAssigner::leave(Holder holder) {
  holders_.at(holder).has_left = true;
  is_divided_ = false;
  expire_assignments(at_);
}

inline void NaiveQuotaAssigner::set_demand(Holder holder, std::uint64_t requests, Cost each, Duration over) {
  const Wide time = std::max<Duration::rep>(over.count(), 1);
  const std::uint64_t in_a_fill = naive_quota::clamped(Wide{requests} * fill_micros() / time, naive_quota::max_units);
  const std::uint64_t units = naive_quota::clamped(Wide{in_a_fill} * each.units(), naive_quota::max_units);
  holders_.at(holder).demand =
      naive_quota::clamped(Wide{units} + units / 8 + 1, naive_quota::max_units);  // headroom, because demand fluctuates
  is_divided_ = false;
}

inline NaiveQuotaAssigner::Share NaiveQuotaAssigner::fair(Holder holder) {
  if (!is_divided_) divide();
  return holders_.at(holder).fair;
}

// The smallest demands are met first.
inline void NaiveQuotaAssigner::divide() {
  std::vector<std::pair<std::uint64_t, State*>> by_demand;
  for (auto& [holder, state] : holders_) {
    if (!state.has_left) by_demand.emplace_back(0, &state);
  }
  const std::size_t count = by_demand.size();
  for (auto& [demand, state] : by_demand) {
    demand = state->demand.value_or(std::max<std::uint64_t>(1, per_fill_ / count));
  }
  std::ranges::stable_sort(by_demand, {}, &std::pair<std::uint64_t, State*>::first);
  std::uint64_t left = per_fill_ - per_fill_ / 20;  // the rest refills the pool for new assignments
  std::size_t waiting = count;
  for (auto& [demand, state] : by_demand) {
    state->fair.per_fill = std::min(demand, left / waiting--);
    left -= state->fair.per_fill;
  }
  const Wide with_holders = burst_ - burst_ / 2;
  for (auto& [demand, state] : by_demand) {
    state->fair.per_fill += left / (2 * count);
    const Wide part = per_fill_ == 0 ? 0 : with_holders * state->fair.per_fill / per_fill_;
    state->fair.burst = burst_ == 0 ? 0 : naive_quota::clamped(std::max<Wide>(part, 1), naive_quota::max_units);
  }
  is_divided_ = true;
}

inline std::uint64_t NaiveQuotaAssigner::reserve() const noexcept {
  return burst_ < 2 ? 0 : std::max<std::uint64_t>(1, burst_ / 8);
}

inline NaiveQuotaAssigner::Share NaiveQuotaAssigner::offer(Holder holder, Instant now) {
  advance(now);
  Share share = fair(holder);
  const State& state = holders_.at(holder);
  if (state.assignments.size() >= max_assignments) return {};
  const std::uint64_t own = state.per_fill();
  const std::uint64_t others = assigned_per_fill_ - own;
  std::uint64_t rate_left = others < per_fill_ ? per_fill_ - others : 0;
  std::uint64_t burst_left = naive_quota::clamped(pool_ / fill_micros(), naive_quota::max_units);
  const bool is_lowered = !state.assignments.empty() && share.per_fill < state.assignments.back().share.per_fill;
  if (!is_lowered) burst_left -= std::min(burst_left, reserve());
  if (!state.demand) {  // other new holders may follow
    rate_left = std::max(own, rate_left - rate_left / 2);
    burst_left -= burst_left / 2;
  }
  share.per_fill = std::min(share.per_fill, rate_left);
  share.burst = std::min(share.burst, burst_left);
  return share;
}

inline void NaiveQuotaAssigner::assign(Holder holder, const Share& share, Instant now, Instant until) {
  advance(now);
  pool_ -= Wide{share.burst} * fill_micros();
  holders_.at(holder).assignments.push_back({share, until});
  sum_up();
}

inline void NaiveQuotaAssigner::extend(Holder holder, Instant until) {
  std::vector<Assignment>& assignments = holders_.at(holder).assignments;
  if (!assignments.empty()) assignments.back().until = std::max(assignments.back().until, until);
}

inline bool NaiveQuotaAssigner::is_pristine(Instant now) {
  advance(now);
  return holders_.empty() && pool_ >= Wide{burst_} * fill_micros();
}

inline std::uint64_t NaiveQuotaAssigner::pool(Instant now) {
  advance(now);
  return naive_quota::clamped(pool_ / fill_micros(), naive_quota::max_units);
}

// Stops at each expiration, because it changes the unassigned rate.
inline void NaiveQuotaAssigner::advance(Instant now) {
  while (next_end_ <= now) {
    const Instant end = next_end_;
    fill_until(end);
    expire_assignments(end);
  }
  fill_until(now);
}

inline void NaiveQuotaAssigner::fill_until(Instant now) {
  if (now <= at_) return;
  const Wide room = std::max<Wide>(0, Wide{burst_} - Wide{assigned_burst_}) * fill_micros();
  const Wide rate = std::max<Wide>(0, Wide{per_fill_} - Wide{assigned_per_fill_});
  pool_ = std::min(pool_ + rate * (now - at_).count(), std::max(room, pool_));
  at_ = now;
}

inline void NaiveQuotaAssigner::expire_assignments(Instant now) {
  for (auto& [holder, state] : holders_) {
    std::erase_if(state.assignments, [&](const Assignment& assignment) { return assignment.until <= now; });
  }
  std::erase_if(holders_, [](const auto& entry) { return entry.second.has_left && entry.second.assignments.empty(); });
  sum_up();
}

inline void NaiveQuotaAssigner::sum_up() noexcept {
  assigned_burst_ = assigned_per_fill_ = 0;
  next_end_ = Instant::max();
  Share latest;
  for (const auto& [holder, state] : holders_) {
    assigned_per_fill_ += state.per_fill();
    for (const Assignment& assignment : state.assignments) {
      assigned_burst_ += assignment.share.burst;
      next_end_ = std::min(next_end_, assignment.until);
    }
    if (state.has_left || state.assignments.empty()) continue;
    latest.burst += state.assignments.back().share.burst;
    latest.per_fill += state.assignments.back().share.per_fill;
  }
  is_overdrawn_ = latest.burst > burst_ || latest.per_fill > per_fill_;
}

}  // namespace weir::frontend
