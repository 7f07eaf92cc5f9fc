#include "frontend/rls/quota_assigner.h"

#include <algorithm>

namespace weir::frontend {
namespace {

__extension__ using Exact = __int128;

// What fits into a field of Envoy's token bucket.
constexpr std::uint64_t max_units = UINT32_MAX;

std::uint64_t held_to(Exact number, std::uint64_t most) noexcept {
  return number > Exact{most} ? most : static_cast<std::uint64_t>(number);
}

Exact rounded_up(Exact number, Exact by) noexcept {
  return (number + by - 1) / by;
}

}  // namespace

std::uint64_t QuotaAssigner::Place::per_fill() const noexcept {
  std::uint64_t largest = 0;
  for (const Hold& hold : holds) largest = std::max(largest, hold.share.per_fill);
  return largest;
}

Instant QuotaAssigner::Place::next_end() const noexcept {
  Instant next = Instant::max();
  for (const Hold& hold : holds) next = std::min(next, hold.until);
  return next;
}

QuotaAssigner::Held QuotaAssigner::held_by(const Place& place) noexcept {
  Held held{.per_fill = place.per_fill()};
  for (const Hold& hold : place.holds) held.burst += hold.share.burst;
  if (place.has_left || place.holds.empty()) return held;
  held.latest_burst = place.holds.back().share.burst;
  held.latest_per_fill = place.holds.back().share.per_fill;
  return held;
}

void QuotaAssigner::count_in(Holder holder, const Place& place) {
  if (place.holds.empty()) return;
  ends_.emplace(place.next_end(), holder);
  const Held own = held_by(place);
  held_.burst += own.burst;
  held_.per_fill += own.per_fill;
  held_.latest_burst += own.latest_burst;
  held_.latest_per_fill += own.latest_per_fill;
}

void QuotaAssigner::count_out(Holder holder, const Place& place) {
  if (place.holds.empty()) return;
  ends_.erase({place.next_end(), holder});
  const Held own = held_by(place);
  held_.burst -= own.burst;
  held_.per_fill -= own.per_fill;
  held_.latest_burst -= own.latest_burst;
  held_.latest_per_fill -= own.latest_per_fill;
}

QuotaAssigner::Place& QuotaAssigner::visit(Holder holder) {
  ++visited_;
  return places_.at(holder);
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
  const std::uint64_t seconds = held_to(rounded_up(per * fewest_per_fill, count * second), longest);
  fill_ = std::chrono::seconds(std::max<std::uint64_t>(seconds, 1));
  per_fill_ = held_to(Wide{numbers.rate.count} * fill_micros() / per, max_units);
}

void QuotaAssigner::change(const Numbers& numbers, Instant now) {
  advance(now, SIZE_MAX);  // the old rate up to now
  const Wide before = fill_micros();
  set_numbers(numbers);
  is_divided_ = false;
  if (before != fill_micros()) {
    known_.clear();
    held_ = {};
    ends_.clear();
    for (auto& [holder, place] : places_) {
      ++visited_;
      for (Hold& hold : place.holds) {
        hold.share.per_fill = held_to(rounded_up(Wide{hold.share.per_fill} * fill_micros(), before), max_units);
      }
      count_in(holder, place);
      if (!place.wanted) continue;
      place.wanted = held_to(Wide{*place.wanted} * fill_micros() / before, max_units);
      if (!place.has_left) known_.insert({*place.wanted, holder});
    }
  }
  const Wide room = std::max<Wide>(0, Wide{burst_} - Wide{held_.burst});
  pool_ = std::min(pool_ / before, room) * fill_micros();
}

QuotaAssigner::Holder QuotaAssigner::join() {
  places_.emplace(next_, Place{});
  unknown_.insert({0, next_});
  is_divided_ = false;
  return next_++;
}

void QuotaAssigner::leave(Holder holder) {
  Place& place = visit(holder);
  forget_demand(holder, place);
  count_out(holder, place);
  place.has_left = true;
  count_in(holder, place);
  if (place.holds.empty()) places_.erase(holder);
}

void QuotaAssigner::forget_demand(Holder holder, const Place& place) {
  if (place.wanted) {
    known_.erase({*place.wanted, holder});
  } else {
    unknown_.erase({0, holder});
  }
  is_divided_ = false;
}

void QuotaAssigner::set_demand(Holder holder, std::uint64_t requests, Cost each, Duration over) {
  const Wide time = std::max<Duration::rep>(over.count(), 1);
  const std::uint64_t in_a_fill = held_to(Wide{requests} * fill_micros() / time, max_units);
  const std::uint64_t units = held_to(Wide{in_a_fill} * each.units(), max_units);
  Place& place = visit(holder);
  forget_demand(holder, place);
  place.wanted = held_to(Wide{units} + units / 8 + 1, max_units);  // demand is never quite even
  known_.insert({*place.wanted, holder});
}

QuotaAssigner::Share QuotaAssigner::fair(Holder holder) {
  if (!is_divided_) divide();
  const Place& place = visit(holder);
  const std::uint64_t wanted = place.wanted.value_or(division_.unknown);
  Share share{.per_fill = wanted};
  if (wanted > division_.level) {
    const bool has_one_more = rank(holder, place) >= division_.one_more_from;
    share.per_fill = division_.level + (has_one_more ? 1 : 0);
  }
  share.per_fill += division_.beyond_demand;
  const Wide with_holders = burst_ - burst_ / 2;
  const Wide part = per_fill_ == 0 ? 0 : with_holders * share.per_fill / per_fill_;
  share.burst = burst_ == 0 ? 0 : held_to(std::max<Wide>(part, 1), max_units);
  return share;
}

// The smallest demands are met first; what they leave is for the larger ones. To meet all demands up to w, and to give
// w to everyone else, takes more with every w: so the last one that can be met is found by descent.
void QuotaAssigner::divide() noexcept {
  is_divided_ = true;
  const std::uint64_t known = known_.count();
  const std::uint64_t unknown = unknown_.count();
  const std::uint64_t count = known + unknown;
  division_ = {};
  if (count == 0) return;
  const std::uint64_t assumed = std::max<std::uint64_t>(1, per_fill_ / count);
  const std::uint64_t whole = per_fill_ - per_fill_ / 20;  // the rest fills the pool, which pays for changes
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

std::uint64_t QuotaAssigner::rank(Holder holder, const Place& place) const noexcept {
  const std::uint64_t assumed = division_.unknown;
  if (!place.wanted) return unknown_.rank({0, holder}) + known_.rank({assumed, holder});
  const std::uint64_t wanted = *place.wanted;
  const std::uint64_t unknown = wanted < assumed ? 0 : wanted > assumed ? unknown_.count() : unknown_.rank({0, holder});
  return known_.rank({wanted, holder}) + unknown;
}

std::uint64_t QuotaAssigner::reserve() const noexcept {
  return burst_ < 2 ? 0 : std::max<std::uint64_t>(1, burst_ / 8);
}

QuotaAssigner::Share QuotaAssigner::offer(Holder holder, Instant now) {
  advance(now);
  Share share = fair(holder);
  const Place& place = visit(holder);
  if (place.holds.size() >= max_holds) return {};
  const std::uint64_t own = place.per_fill();
  const std::uint64_t others = held_.per_fill - own;
  std::uint64_t rate_left = others < per_fill_ ? per_fill_ - others : 0;
  std::uint64_t burst_left = held_to(pool_ / fill_micros(), max_units);
  const bool is_lowered = !place.holds.empty() && share.per_fill < place.holds.back().share.per_fill;
  if (!is_lowered) burst_left -= std::min(burst_left, reserve());
  if (!place.wanted) {  // others may come with it
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
  Place& place = visit(holder);
  count_out(holder, place);
  place.holds.push_back({share, until});
  count_in(holder, place);
}

void QuotaAssigner::extend(Holder holder, Instant until) {
  Place& place = visit(holder);
  if (place.holds.empty()) return;
  count_out(holder, place);
  place.holds.back().until = std::max(place.holds.back().until, until);
  count_in(holder, place);
}

bool QuotaAssigner::is_as_new(Instant now) {
  advance(now);
  return places_.empty() && pool_ >= Wide{burst_} * fill_micros();
}

std::uint64_t QuotaAssigner::pool(Instant now) {
  advance(now);
  return held_to(pool_ / fill_micros(), max_units);
}

// Rates are free from the end of each hold on.
void QuotaAssigner::advance(Instant now, std::size_t max_visits) {
  for (; !ends_.empty() && ends_.begin()->first <= now; --max_visits) {
    if (max_visits == 0) return;
    const auto [end, holder] = *ends_.begin();
    fill_until(end);
    end_holds(holder, end);
  }
  fill_until(now);
}

void QuotaAssigner::fill_until(Instant now) {
  if (now <= at_) return;
  const Wide room = std::max<Wide>(0, Wide{burst_} - Wide{held_.burst}) * fill_micros();
  const Wide rate = std::max<Wide>(0, Wide{per_fill_} - Wide{held_.per_fill});
  pool_ = std::min(pool_ + rate * (now - at_).count(), std::max(room, pool_));
  at_ = now;
}

void QuotaAssigner::end_holds(Holder holder, Instant now) {
  Place& place = visit(holder);
  count_out(holder, place);
  std::erase_if(place.holds, [&](const Hold& hold) { return hold.until <= now; });
  count_in(holder, place);
  if (place.has_left && place.holds.empty()) places_.erase(holder);
}

}  // namespace weir::frontend
