#include "frontend/rls/quota_assigner.h"

#include <algorithm>

namespace weir::frontend {
namespace {

__extension__ using Exact = __int128;

// What fits into a field of Envoy's token bucket.
constexpr std::uint64_t most_units = UINT32_MAX;

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

QuotaAssigner::QuotaAssigner(const Numbers& numbers, Instant now) : at_(now) {
  set_numbers(numbers);
  pool_ = Wide{burst_} * fill_micros();
}

void QuotaAssigner::set_numbers(const Numbers& numbers) {
  numbers_ = numbers;
  burst_ = std::min(numbers.burst, most_units);
  const Wide per = std::max<Duration::rep>(numbers.rate.per.count(), 1);
  const Wide count = std::max<std::uint64_t>(numbers.rate.count, 1);
  const Wide second = Duration(std::chrono::seconds(1)).count();
  const auto longest = static_cast<std::uint64_t>(longest_fill.count());
  const std::uint64_t seconds = held_to(rounded_up(per * fewest_per_fill, count * second), longest);
  fill_ = std::chrono::seconds(std::max<std::uint64_t>(seconds, 1));
  per_fill_ = held_to(Wide{numbers.rate.count} * fill_micros() / per, most_units);
}

void QuotaAssigner::change(const Numbers& numbers, Instant now) {
  advance(now);
  const Wide before = fill_micros();
  set_numbers(numbers);
  for (auto& [holder, place] : places_) {
    if (place.wanted) place.wanted = held_to(Wide{*place.wanted} * fill_micros() / before, most_units);
    for (Hold& hold : place.holds) {
      hold.share.per_fill = held_to(rounded_up(Wide{hold.share.per_fill} * fill_micros(), before), most_units);
    }
  }
  sum_up();
  const Wide room = std::max<Wide>(0, Wide{burst_} - Wide{held_burst_});
  pool_ = std::min(pool_ / before, room) * fill_micros();
  is_divided_ = false;
}

QuotaAssigner::Holder QuotaAssigner::join() {
  places_.emplace(next_, Place{});
  is_divided_ = false;
  return next_++;
}

void QuotaAssigner::leave(Holder holder) {
  places_.at(holder).has_left = true;
  is_divided_ = false;
  end_holds(at_);
}

void QuotaAssigner::set_demand(Holder holder, std::uint64_t requests, Cost each, Duration over) {
  const Wide time = std::max<Duration::rep>(over.count(), 1);
  const std::uint64_t in_a_fill = held_to(Wide{requests} * fill_micros() / time, most_units);
  const std::uint64_t units = held_to(Wide{in_a_fill} * each.units(), most_units);
  places_.at(holder).wanted = held_to(Wide{units} + units / 8 + 1, most_units);  // demand is never quite even
  is_divided_ = false;
}

QuotaAssigner::Share QuotaAssigner::fair(Holder holder) {
  if (!is_divided_) divide();
  return places_.at(holder).fair;
}

// The smallest demands are met first; what they leave is for the larger ones.
void QuotaAssigner::divide() {
  std::vector<std::pair<std::uint64_t, Place*>> by_demand;
  for (auto& [holder, place] : places_) {
    if (!place.has_left) by_demand.emplace_back(0, &place);
  }
  const std::size_t count = by_demand.size();
  for (auto& [wanted, place] : by_demand) {
    wanted = place->wanted.value_or(std::max<std::uint64_t>(1, per_fill_ / count));
  }
  std::ranges::stable_sort(by_demand, {}, &std::pair<std::uint64_t, Place*>::first);
  std::uint64_t left = per_fill_ - per_fill_ / 20;  // the rest fills the pool, which pays for changes
  std::size_t waiting = count;
  for (auto& [wanted, place] : by_demand) {
    place->fair.per_fill = std::min(wanted, left / waiting--);
    left -= place->fair.per_fill;
  }
  const Wide with_holders = burst_ - burst_ / 2;
  for (auto& [wanted, place] : by_demand) {
    place->fair.per_fill += left / (2 * count);
    const Wide part = per_fill_ == 0 ? 0 : with_holders * place->fair.per_fill / per_fill_;
    place->fair.burst = burst_ == 0 ? 0 : held_to(std::max<Wide>(part, 1), most_units);
  }
  is_divided_ = true;
}

std::uint64_t QuotaAssigner::reserve() const noexcept {
  return burst_ < 2 ? 0 : std::max<std::uint64_t>(1, burst_ / 8);
}

QuotaAssigner::Share QuotaAssigner::offer(Holder holder, Instant now) {
  advance(now);
  Share share = fair(holder);
  const Place& place = places_.at(holder);
  if (place.holds.size() >= most_holds) return {};
  const std::uint64_t own = place.per_fill();
  const std::uint64_t others = held_per_fill_ - own;
  std::uint64_t rate_left = others < per_fill_ ? per_fill_ - others : 0;
  std::uint64_t burst_left = held_to(pool_ / fill_micros(), most_units);
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
  places_.at(holder).holds.push_back({share, until});
  sum_up();
}

void QuotaAssigner::extend(Holder holder, Instant until) {
  std::vector<Hold>& holds = places_.at(holder).holds;
  if (!holds.empty()) holds.back().until = std::max(holds.back().until, until);
}

bool QuotaAssigner::is_as_new(Instant now) {
  advance(now);
  return places_.empty() && pool_ >= Wide{burst_} * fill_micros();
}

std::uint64_t QuotaAssigner::pool(Instant now) {
  advance(now);
  return held_to(pool_ / fill_micros(), most_units);
}

// Rates are free from the end of each hold on.
void QuotaAssigner::advance(Instant now) {
  while (next_end_ <= now) {
    const Instant end = next_end_;
    fill_until(end);
    end_holds(end);
  }
  fill_until(now);
}

void QuotaAssigner::fill_until(Instant now) {
  if (now <= at_) return;
  const Wide room = std::max<Wide>(0, Wide{burst_} - Wide{held_burst_}) * fill_micros();
  const Wide rate = std::max<Wide>(0, Wide{per_fill_} - Wide{held_per_fill_});
  pool_ = std::min(pool_ + rate * (now - at_).count(), std::max(room, pool_));
  at_ = now;
}

void QuotaAssigner::end_holds(Instant now) {
  for (auto& [holder, place] : places_) {
    std::erase_if(place.holds, [&](const Hold& hold) { return hold.until <= now; });
  }
  std::erase_if(places_, [](const auto& entry) { return entry.second.has_left && entry.second.holds.empty(); });
  sum_up();
}

void QuotaAssigner::sum_up() noexcept {
  held_burst_ = held_per_fill_ = 0;
  next_end_ = Instant::max();
  Share latest;
  for (const auto& [holder, place] : places_) {
    held_per_fill_ += place.per_fill();
    for (const Hold& hold : place.holds) {
      held_burst_ += hold.share.burst;
      next_end_ = std::min(next_end_, hold.until);
    }
    if (place.has_left || place.holds.empty()) continue;
    latest.burst += place.holds.back().share.burst;
    latest.per_fill += place.holds.back().share.per_fill;
  }
  is_overdrawn_ = latest.burst > burst_ || latest.per_fill > per_fill_;
}

}  // namespace weir::frontend
