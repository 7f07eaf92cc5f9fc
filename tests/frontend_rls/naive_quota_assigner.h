// QuotaAssigner as it was written first: every call walks all holders, and divides anew. The oracle that the fast one
// is compared with.
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

  // What can be assigned is a whole number for each fill interval: it is so long that the limit has at least so many.
  static constexpr std::uint64_t fewest_per_fill = 100;
  // Envoy takes a slower rate than one a year for one a year.
  static constexpr std::chrono::seconds max_fill = std::chrono::days{365};
  // Of one holder: then it is not offered another before one has ended.
  static constexpr std::size_t max_holds = 8;

  NaiveQuotaAssigner(const Numbers& numbers, Instant now);

  // What is out counts on, and nobody gets a fresh burst.
  void change(const Numbers& numbers, Instant now);
  [[nodiscard]] const Numbers& numbers() const noexcept { return numbers_; }
  // At least a second, whole seconds. It changes with the numbers only.
  [[nodiscard]] std::chrono::seconds fill_interval() const noexcept { return fill_; }

  [[nodiscard]] Holder join();
  void leave(Holder holder);
  // Its requests, admitted or not, over that time. Before it is told, the demand is not known.
  void set_demand(Holder holder, std::uint64_t requests, Cost each, Duration over);

  // What the holder is to have: max-min fair by demand. Of what nobody demands one half is divided evenly, the other is
  // left for those who come.
  [[nodiscard]] Share fair(Holder holder);
  // What it can be assigned now, at most its fair share; less where others still hold what it is to have.
  [[nodiscard]] Share offer(Holder holder, Instant now);
  // At most what was offered, at the same time.
  void assign(Holder holder, const Share& share, Instant now, Instant until);
  // The same assignment again, sent while the last one was certainly in force.
  void extend(Holder holder, Instant until);

  // The numbers were lowered, and the latest assignments are more than there is.
  [[nodiscard]] bool is_overdrawn() const noexcept { return is_overdrawn_; }
  // Nothing is out, and the pool is full.
  [[nodiscard]] bool is_as_new(Instant now);

  // For tests and figures.
  [[nodiscard]] std::uint64_t pool(Instant now);
  [[nodiscard]] std::uint64_t held_burst() const noexcept { return held_burst_; }
  [[nodiscard]] std::uint64_t held_per_fill() const noexcept { return held_per_fill_; }
  [[nodiscard]] std::uint64_t per_fill() const noexcept { return per_fill_; }

 private:
  __extension__ using Wide = __int128;

  struct Hold {
    Share share;
    Instant until;
  };
  struct Place {
    bool has_left = false;
    std::optional<std::uint64_t> wanted;  // in a fill interval; none: not known
    Share fair;
    std::vector<Hold> holds;  // the last one is the latest

    [[nodiscard]] std::uint64_t per_fill() const noexcept;
  };

  void set_numbers(const Numbers& numbers);
  void advance(Instant now);
  void fill_until(Instant now);
  void end_holds(Instant now);
  void sum_up() noexcept;
  void divide();
  [[nodiscard]] Wide fill_micros() const noexcept { return Duration(fill_).count(); }
  // What has to stay in the pool unless a rate is lowered, so that one always can be.
  [[nodiscard]] std::uint64_t reserve() const noexcept;

  Numbers numbers_;
  std::uint64_t burst_ = 0;
  std::chrono::seconds fill_{1};
  std::uint64_t per_fill_ = 0;  // of the limit
  Instant at_;
  Wide pool_ = 0;  // in units x microseconds of the fill interval: exact
  std::map<Holder, Place> places_;
  Holder next_ = 0;
  std::uint64_t held_burst_ = 0;
  std::uint64_t held_per_fill_ = 0;
  Instant next_end_ = Instant::max();  // of a hold; none ends before
  bool is_overdrawn_ = false;
  bool is_divided_ = false;
};

namespace naive_quota {

__extension__ using Exact = __int128;

// What fits into a field of Envoy's token bucket.
inline constexpr std::uint64_t max_units = UINT32_MAX;

inline std::uint64_t held_to(Exact number, std::uint64_t most) noexcept {
  return number > Exact{most} ? most : static_cast<std::uint64_t>(number);
}

inline Exact rounded_up(Exact number, Exact by) noexcept {
  return (number + by - 1) / by;
}

}  // namespace naive_quota

inline std::uint64_t NaiveQuotaAssigner::Place::per_fill() const noexcept {
  std::uint64_t largest = 0;
  for (const Hold& hold : holds) largest = std::max(largest, hold.share.per_fill);
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
      naive_quota::held_to(naive_quota::rounded_up(per * fewest_per_fill, count * second), longest);
  fill_ = std::chrono::seconds(std::max<std::uint64_t>(seconds, 1));
  per_fill_ = naive_quota::held_to(Wide{numbers.rate.count} * fill_micros() / per, naive_quota::max_units);
}

inline void NaiveQuotaAssigner::change(const Numbers& numbers, Instant now) {
  advance(now);
  const Wide before = fill_micros();
  set_numbers(numbers);
  for (auto& [holder, place] : places_) {
    if (place.wanted)
      place.wanted = naive_quota::held_to(Wide{*place.wanted} * fill_micros() / before, naive_quota::max_units);
    for (Hold& hold : place.holds) {
      hold.share.per_fill = naive_quota::held_to(
          naive_quota::rounded_up(Wide{hold.share.per_fill} * fill_micros(), before), naive_quota::max_units);
    }
  }
  sum_up();
  const Wide room = std::max<Wide>(0, Wide{burst_} - Wide{held_burst_});
  pool_ = std::min(pool_ / before, room) * fill_micros();
  is_divided_ = false;
}

inline NaiveQuotaAssigner::Holder NaiveQuotaAssigner::join() {
  places_.emplace(next_, Place{});
  is_divided_ = false;
  return next_++;
}

inline void NaiveQuotaAssigner::leave(Holder holder) {
  places_.at(holder).has_left = true;
  is_divided_ = false;
  end_holds(at_);
}

inline void NaiveQuotaAssigner::set_demand(Holder holder, std::uint64_t requests, Cost each, Duration over) {
  const Wide time = std::max<Duration::rep>(over.count(), 1);
  const std::uint64_t in_a_fill = naive_quota::held_to(Wide{requests} * fill_micros() / time, naive_quota::max_units);
  const std::uint64_t units = naive_quota::held_to(Wide{in_a_fill} * each.units(), naive_quota::max_units);
  places_.at(holder).wanted =
      naive_quota::held_to(Wide{units} + units / 8 + 1, naive_quota::max_units);  // demand is never quite even
  is_divided_ = false;
}

inline NaiveQuotaAssigner::Share NaiveQuotaAssigner::fair(Holder holder) {
  if (!is_divided_) divide();
  return places_.at(holder).fair;
}

// The smallest demands are met first; what they leave is for the larger ones.
inline void NaiveQuotaAssigner::divide() {
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
    place->fair.burst = burst_ == 0 ? 0 : naive_quota::held_to(std::max<Wide>(part, 1), naive_quota::max_units);
  }
  is_divided_ = true;
}

inline std::uint64_t NaiveQuotaAssigner::reserve() const noexcept {
  return burst_ < 2 ? 0 : std::max<std::uint64_t>(1, burst_ / 8);
}

inline NaiveQuotaAssigner::Share NaiveQuotaAssigner::offer(Holder holder, Instant now) {
  advance(now);
  Share share = fair(holder);
  const Place& place = places_.at(holder);
  if (place.holds.size() >= max_holds) return {};
  const std::uint64_t own = place.per_fill();
  const std::uint64_t others = held_per_fill_ - own;
  std::uint64_t rate_left = others < per_fill_ ? per_fill_ - others : 0;
  std::uint64_t burst_left = naive_quota::held_to(pool_ / fill_micros(), naive_quota::max_units);
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

inline void NaiveQuotaAssigner::assign(Holder holder, const Share& share, Instant now, Instant until) {
  advance(now);
  pool_ -= Wide{share.burst} * fill_micros();
  places_.at(holder).holds.push_back({share, until});
  sum_up();
}

inline void NaiveQuotaAssigner::extend(Holder holder, Instant until) {
  std::vector<Hold>& holds = places_.at(holder).holds;
  if (!holds.empty()) holds.back().until = std::max(holds.back().until, until);
}

inline bool NaiveQuotaAssigner::is_as_new(Instant now) {
  advance(now);
  return places_.empty() && pool_ >= Wide{burst_} * fill_micros();
}

inline std::uint64_t NaiveQuotaAssigner::pool(Instant now) {
  advance(now);
  return naive_quota::held_to(pool_ / fill_micros(), naive_quota::max_units);
}

// Rates are free from the end of each hold on.
inline void NaiveQuotaAssigner::advance(Instant now) {
  while (next_end_ <= now) {
    const Instant end = next_end_;
    fill_until(end);
    end_holds(end);
  }
  fill_until(now);
}

inline void NaiveQuotaAssigner::fill_until(Instant now) {
  if (now <= at_) return;
  const Wide room = std::max<Wide>(0, Wide{burst_} - Wide{held_burst_}) * fill_micros();
  const Wide rate = std::max<Wide>(0, Wide{per_fill_} - Wide{held_per_fill_});
  pool_ = std::min(pool_ + rate * (now - at_).count(), std::max(room, pool_));
  at_ = now;
}

inline void NaiveQuotaAssigner::end_holds(Instant now) {
  for (auto& [holder, place] : places_) {
    std::erase_if(place.holds, [&](const Hold& hold) { return hold.until <= now; });
  }
  std::erase_if(places_, [](const auto& entry) { return entry.second.has_left && entry.second.holds.empty(); });
  sum_up();
}

inline void NaiveQuotaAssigner::sum_up() noexcept {
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
