#include "frontend/rls/quota_assigner.h"

#include <algorithm>

namespace weir::frontend {
namespace {

__extension__ using Exact = __int128;

// The maximum of the fields of Envoy's token bucket.
constexpr std::uint64_t max_units = UINT32_MAX;

std::uint64_t clamped(Exact number, std::uint64_t max) noexcept {
  return number > Exact{max} ? max : static_cast<std::uint64_t>(number);
}

Exact rounded_up(Exact number, Exact by) noexcept {
  return (number + by - 1) / by;
}

}  // namespace

std::uint64_t QuotaAssigner::State::per_fill() const noexcept {
  std::uint64_t largest = 0;
  for (const Assignment& assignment : assignments) largest = std::max(largest, assignment.share.per_fill);
  return largest;
}

Instant QuotaAssigner::State::next_expiration() const noexcept {
  Instant next = Instant::max();
  for (const Assignment& assignment : assignments) next = std::min(next, assignment.until);
  return next;
}

QuotaAssigner::Sums QuotaAssigner::sums_of(const State& state) noexcept {
  Sums sums{.per_fill = state.per_fill()};
  for (const Assignment& assignment : state.assignments) sums.burst += assignment.share.burst;
  if (state.has_left || state.assignments.empty()) return sums;
  sums.latest_burst = state.assignments.back().share.burst;
  sums.latest_per_fill = state.assignments.back().share.per_fill;
  return sums;
}

void QuotaAssigner::count_in(Holder holder, const State& state) {
  if (state.assignments.empty()) return;
  expirations_.emplace(state.next_expiration(), holder);
  const Sums own = sums_of(state);
  sums_.burst += own.burst;
  sums_.per_fill += own.per_fill;
  sums_.latest_burst += own.latest_burst;
  sums_.latest_per_fill += own.latest_per_fill;
}

void QuotaAssigner::count_out(Holder holder, const State& state) {
  if (state.assignments.empty()) return;
  expirations_.erase({state.next_expiration(), holder});
  const Sums own = sums_of(state);
  sums_.burst -= own.burst;
  sums_.per_fill -= own.per_fill;
  sums_.latest_burst -= own.latest_burst;
  sums_.latest_per_fill -= own.latest_per_fill;
}

QuotaAssigner::State& QuotaAssigner::visit(Holder holder) {
  ++visited_;
  return holders_.at(holder);
}

QuotaAssigner::QuotaAssigner(const Numbers& numbers, Instant now) : at_(now) {
  set_numbers(numbers);
  pool_ = Wide{burst_} * fill_micros();
}

void QuotaAssigner::set_numbers(const Numbers& numbers) {
  numbers_ = numbers;
  burst_ = std::min(numbers.burst, max_units);
  const Wide per = std::max<Duration::rep>(numbers.rate.per.count(), 1);
  const Wide count = std::max<std::uint64_t>(numbers.rate.count, 1);
  const Wide second = Duration(std::chrono::seconds(1)).count();
  const auto longest = static_cast<std::uint64_t>(max_fill.count());
  const std::uint64_t seconds = clamped(rounded_up(per * min_per_fill, count * second), longest);
  fill_ = std::chrono::seconds(std::max<std::uint64_t>(seconds, 1));
  per_fill_ = clamped(Wide{numbers.rate.count} * fill_micros() / per, max_units);
}

void QuotaAssigner::change(const Numbers& numbers, Instant now) {
  advance(now, SIZE_MAX);  // applies the old rate up to now
  const Wide before = fill_micros();
  set_numbers(numbers);
  is_divided_ = false;
  if (before != fill_micros()) {
    known_.clear();
    sums_ = {};
    expirations_.clear();
    for (auto& [holder, state] : holders_) {
      ++visited_;
      for (Assignment& assignment : state.assignments) {
        assignment.share.per_fill =
            clamped(rounded_up(Wide{assignment.share.per_fill} * fill_micros(), before), max_units);
      }
      count_in(holder, state);
      if (!state.demand) continue;
      state.demand = clamped(Wide{*state.demand} * fill_micros() / before, max_units);
      if (!state.has_left) known_.insert({*state.demand, holder});
    }
  }
  const Wide room = std::max<Wide>(0, Wide{burst_} - Wide{sums_.burst});
  pool_ = std::min(pool_ / before, room) * fill_micros();
}

QuotaAssigner::Holder QuotaAssigner::join() {
  holders_.emplace(next_, State{});
  unknown_.insert({0, next_});
  is_divided_ = false;
  return next_++;
}

void QuotaAssigner::leave(Holder holder) {
  State& state = visit(holder);
  forget_demand(holder, state);
  count_out(holder, state);
  state.has_left = true;
  count_in(holder, state);
  if (state.assignments.empty()) holders_.erase(holder);
}

void QuotaAssigner::forget_demand(Holder holder, const State& state) {
  if (state.demand) {
    known_.erase({*state.demand, holder});
  } else {
    unknown_.erase({0, holder});
  }
  is_divided_ = false;
}

void QuotaAssigner::set_demand(Holder holder, std::uint64_t requests, Cost each, Duration over) {
  const Wide time = std::max<Duration::rep>(over.count(), 1);
  const std::uint64_t in_a_fill = clamped(Wide{requests} * fill_micros() / time, max_units);
  const std::uint64_t units = clamped(Wide{in_a_fill} * each.units(), max_units);
  State& state = visit(holder);
  forget_demand(holder, state);
  state.demand = clamped(Wide{units} + units / 8 + 1, max_units);  // headroom, because demand fluctuates
  known_.insert({*state.demand, holder});
}

QuotaAssigner::Share QuotaAssigner::fair(Holder holder) {
  if (!is_divided_) divide();
  const State& state = visit(holder);
  const std::uint64_t demand = state.demand.value_or(division_.unknown);
  Share share{.per_fill = demand};
  if (demand > division_.level) {
    const bool has_one_more = rank(holder, state) >= division_.one_more_from;
    share.per_fill = division_.level + (has_one_more ? 1 : 0);
  }
  share.per_fill += division_.beyond_demand;
  const Wide with_holders = burst_ - burst_ / 2;
  const Wide part = per_fill_ == 0 ? 0 : with_holders * share.per_fill / per_fill_;
  share.burst = burst_ == 0 ? 0 : clamped(std::max<Wide>(part, 1), max_units);
  return share;
}

// The smallest demands are met first. If each holder gets its demand but at most w, the total grows with w, so the
// largest demand that can be met is found by descending the tree of demands.
void QuotaAssigner::divide() noexcept {
  is_divided_ = true;
  const std::uint64_t known = known_.count();
  const std::uint64_t unknown = unknown_.count();
  const std::uint64_t count = known + unknown;
  division_ = {};
  if (count == 0) return;
  const std::uint64_t assumed = std::max<std::uint64_t>(1, per_fill_ / count);
  const std::uint64_t whole = per_fill_ - per_fill_ / 20;  // the rest refills the pool for new assignments
  const auto is_too_much = [&](std::uint64_t units, const QuotaDemands::Prefix& before) {
    return before.sum + units * (known - before.count) + std::min(units, assumed) * unknown > whole;
  };
  const auto met = known_.before_first(is_too_much);
  const auto smaller = known_.before_first([&](std::uint64_t units, const auto&) { return units >= assumed; });
  const bool meets_unknown = unknown > 0 && !is_too_much(assumed, smaller);
  const std::uint64_t left = whole - met.sum - (meets_unknown ? assumed * unknown : 0);
  const std::uint64_t waiting = count - met.count - (meets_unknown ? unknown : 0);
  division_.unknown = assumed;
  if (waiting == 0) {
    division_.level = UINT64_MAX;
    division_.beyond_demand = left / (2 * count);
  } else {
    division_.level = left / waiting;
    division_.one_more_from = count - left % waiting;
  }
}

std::uint64_t QuotaAssigner::rank(Holder holder, const State& state) const noexcept {
  const std::uint64_t assumed = division_.unknown;
  if (!state.demand) return unknown_.rank({0, holder}) + known_.rank({assumed, holder});
  const std::uint64_t demand = *state.demand;
  const std::uint64_t unknown = demand < assumed ? 0 : demand > assumed ? unknown_.count() : unknown_.rank({0, holder});
  return known_.rank({demand, holder}) + unknown;
}

std::uint64_t QuotaAssigner::reserve() const noexcept {
  return burst_ < 2 ? 0 : std::max<std::uint64_t>(1, burst_ / 8);
}

QuotaAssigner::Share QuotaAssigner::offer(Holder holder, Instant now) {
  advance(now);
  Share share = fair(holder);
  const State& state = visit(holder);
  if (state.assignments.size() >= max_assignments) return {};
  const std::uint64_t own = state.per_fill();
  const std::uint64_t others = sums_.per_fill - own;
  std::uint64_t rate_left = others < per_fill_ ? per_fill_ - others : 0;
  std::uint64_t burst_left = clamped(pool_ / fill_micros(), max_units);
  const bool is_lowered = !state.assignments.empty() && share.per_fill < state.assignments.back().share.per_fill;
  if (!is_lowered) burst_left -= std::min(burst_left, reserve());
  if (!state.demand) {  // the demand is unknown, and other new holders may follow
    rate_left = std::max(own, rate_left - rate_left / 2);
    burst_left -= burst_left / 2;
  }
  share.per_fill = std::min(share.per_fill, rate_left);
  share.burst = std::min(share.burst, burst_left);
  return share;
}

void QuotaAssigner::assign(Holder holder, const Share& share, Instant now, Instant until) {
  advance(now);
  pool_ -= Wide{share.burst} * fill_micros();
  State& state = visit(holder);
  count_out(holder, state);
  state.assignments.push_back({share, until});
  count_in(holder, state);
}

void QuotaAssigner::extend(Holder holder, Instant until) {
  State& state = visit(holder);
  if (state.assignments.empty()) return;
  count_out(holder, state);
  state.assignments.back().until = std::max(state.assignments.back().until, until);
  count_in(holder, state);
}

bool QuotaAssigner::is_pristine(Instant now) {
  advance(now);
  return holders_.empty() && pool_ >= Wide{burst_} * fill_micros();
}

std::uint64_t QuotaAssigner::pool(Instant now) {
  advance(now);
  return clamped(pool_ / fill_micros(), max_units);
}

// Stops at each expiration, because it changes the unassigned rate.
void QuotaAssigner::advance(Instant now, std::size_t max_visits) {
  for (; !expirations_.empty() && expirations_.begin()->first <= now; --max_visits) {
    if (max_visits == 0) return;
    const auto [end, holder] = *expirations_.begin();
    fill_until(end);
    expire_assignments(holder, end);
  }
  fill_until(now);
}

void QuotaAssigner::fill_until(Instant now) {
  if (now <= at_) return;
  const Wide room = std::max<Wide>(0, Wide{burst_} - Wide{sums_.burst}) * fill_micros();
  const Wide rate = std::max<Wide>(0, Wide{per_fill_} - Wide{sums_.per_fill});
  pool_ = std::min(pool_ + rate * (now - at_).count(), std::max(room, pool_));
  at_ = now;
}

void QuotaAssigner::expire_assignments(Holder holder, Instant now) {
  State& state = visit(holder);
  count_out(holder, state);
  std::erase_if(state.assignments, [&](const Assignment& assignment) { return assignment.until <= now; });
  count_in(holder, state);
  if (state.has_left && state.assignments.empty()) holders_.erase(holder);
}

}  // namespace weir::frontend
