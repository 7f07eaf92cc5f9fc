#include "policy_test/max_admitted.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace weir::policy_test {
namespace {

// A day of a time zone can be twice as long, or skipped, where the zone moves across the date line.
constexpr Duration max_calendar_length(core::CalendarUnit unit) noexcept {
  constexpr std::array<int, 4> days{2, 8, 32, 367};
  return std::chrono::days{days[static_cast<std::size_t>(unit)]};
}

constexpr Duration min_calendar_length(core::CalendarUnit unit) noexcept {
  constexpr std::array<int, 4> hours{20, 6 * 24 - 4, 27 * 24 - 4, 364 * 24 - 4};
  return std::chrono::hours{hours[static_cast<std::size_t>(unit)]};
}

constexpr Wide micros_of(Duration duration) noexcept {
  return static_cast<std::uint64_t>(duration.count());
}

constexpr Wide divided_up(Wide number, Wide by) noexcept {
  return (number + by - 1) / by;
}

// The windows of length `window` that `instants` consecutive microseconds can touch.
constexpr Wide touched_windows(Wide instants, Wide window) noexcept {
  return divided_up(instants - 1, window) + 1;
}

// Requests of a cost that a sliding window counter admits within one window.
class CounterWindows {
 public:
  CounterWindows(const Limit& limit, Cost cost) noexcept
      : limit_(limit.capacity()), cost_(cost.units()), window_(micros_of(limit.rate().per)) {}

  [[nodiscard]] Wide window() const noexcept { return window_; }
  [[nodiscard]] Wide first() const noexcept { return limit_ / cost_; }

  // The requests that fit by the instant at which `overlap` microseconds of the previous window, which has `previous`
  // requests, still count.
  [[nodiscard]] Wide next(Wide previous, Wide overlap) const noexcept {
    const Wide used = divided_up(previous * cost_ * overlap, window_);
    return used >= limit_ ? Wide{0} : (limit_ - used) / cost_;
  }

 private:
  Wide limit_;
  Wide cost_;
  Wide window_;
};

// The span starts in the last instant of a window. Admitting as many as possible in each window is optimal: one more
// request in a window takes at most one from the next. From some window on the numbers repeat in pairs.
Wide max_of_counter(const CounterWindows& windows, Wide instants) noexcept {
  const Wide rest = instants - 1;
  Wide whole = rest / windows.window();
  Wide before = 0;
  Wide last = windows.first();
  Wide total = last;
  for (; whole > 0; --whole) {
    const Wide next = windows.next(last, 1);  // in the window's last instant, 1 us of the previous one counts
    const bool repeats = next == before && windows.next(next, 1) == last;
    if (repeats) {
      const Wide pairs = whole / 2;
      total += pairs * (next + last);
      if (whole % 2 == 1) {
        total += next;
        last = next;
      }
      break;
    }
    total += next;
    before = last;
    last = next;
  }
  const Wide part = rest % windows.window();
  return part == 0 ? total : total + windows.next(last, windows.window() - (part - 1));
}

// A request that takes the whole burst must wait until the bucket is full, which is at a whole microsecond: what would
// refill until then is lost. A smaller one leaves room for what refills in a microsecond.
Wide max_of_bucket(const Limit& limit, Cost cost, Wide instants) noexcept {
  const Wide per = micros_of(limit.rate().per);
  const Wide count = limit.rate().count;
  if (cost.units() == limit.capacity()) {
    return (instants - 1) / divided_up(Wide{cost.units()} * per, count) + 1;
  }
  // burst + (T - 1) x rate tokens, in units of 1 / per.
  const Wide tokens = Wide{limit.capacity()} * per + (instants - 1) * count;
  return std::min(tokens / (per * cost.units()), instants * (limit.capacity() / cost.units()));
}

}  // namespace

std::optional<Wide> max_admitted(const Limit& limit, Cost cost, const Span& span) noexcept {
  if (limit.algorithm() == Algorithm::concurrency) return {};
  if (cost.units() > limit.capacity()) return Wide{0};
  const Wide each = limit.capacity() / cost.units();
  if (const core::Calendar* const calendar = limit.calendar()) {
    if (span.calendar == calendar->unit()) return each;
    const Wide instants = micros_of(span.calendar ? max_calendar_length(*span.calendar) : span.length);
    return each * touched_windows(instants, micros_of(min_calendar_length(calendar->unit())));
  }
  const Wide instants = micros_of(span.calendar ? max_calendar_length(*span.calendar) : span.length);
  const Wide per = micros_of(limit.rate().per);
  switch (limit.algorithm()) {
    case Algorithm::fixed_window:
      return each * touched_windows(instants, per);
    case Algorithm::sliding_window_log:
      return each * divided_up(instants, per);
    case Algorithm::sliding_window_counter:
      return max_of_counter(CounterWindows(limit, cost), instants);
    default:
      break;
  }
  return max_of_bucket(limit, cost, instants);
}

std::optional<Wide> max_at_once(const Limit& limit, Cost cost) noexcept {
  if (limit.algorithm() != Algorithm::concurrency) return {};
  return Wide{limit.capacity()} / cost.units();
}

}  // namespace weir::policy_test
