// The maximum that one consumer may be admitted under one limit: the algorithm's own bound in every range, replayed
// over the admissions alone. What the store forgot, and units that were out during a pause or a leap that the semantics
// exclude, are a credit that can be used once.
//
// Times: a bucket refills by the time that passed for the store, from which a step back takes nothing. A window is the
// one that the units were granted or decided in, and is weighted by the latest time that the store's clock has shown.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/arithmetic.h"
#include "tests/simulation/event_queue.h"
#include "weir/limit.h"

namespace weir::simulation {

struct StoreTime {
  std::uint64_t order = 0;  // among all events
  Micros at = 0;            // in the run
  Micros passed = 0;        // for the store
  Micros latest = 0;        // shown by its clock
};

class Bound {
 public:
  explicit Bound(const Limit& limit) noexcept : limit_(limit) {}

  // `window` is its start; buckets have none.
  void admit(StoreTime time, std::uint64_t units, Micros window) {
    events_.push_back({time, units, window, Kind::admitted});
  }
  // The store lost charges, or no longer holds the slices that are out.
  void add_credit(StoreTime time, std::uint64_t units) {
    if (units > 0) events_.push_back({time, units, 0, Kind::credit});
  }
  // The store has forgotten all earlier admissions.
  void forget(StoreTime time) { events_.push_back({time, 0, 0, Kind::forgotten}); }
  // The store's clock steps back: an ended window that is entered again is a new one.
  void step_back(StoreTime time) { events_.push_back({time, 0, 0, Kind::stepped_back}); }
  // From then on other numbers apply, of the same algorithm and window. `forgives`: what still counts of admissions
  // under a larger limit is not held against ungranted admissions under the new one.
  void renumber(StoreTime time, const Limit& limit, bool forgives) {
    events_.push_back({time, forgives ? std::uint64_t{1} : 0, 0, Kind::renumbered});
    later_limits_.push_back(limit);
  }

  struct Excess {
    Micros at;
    std::uint64_t units;
  };
  // The first admission that was too much. Call once, at the end: answers arrive later than decisions are made.
  [[nodiscard]] std::optional<Excess> first_excess() {
    std::ranges::stable_sort(events_, {}, [](const Event& event) { return event.time.order; });
    for (const Event& event : events_) {
      if (event.kind == Kind::credit) credit_ += event.units;
      if (event.kind == Kind::forgotten) {
        level_ = 0;
        counts_.clear();
        counts_before_.clear();
      }
      if (event.kind == Kind::stepped_back && !is_bucket()) {
        const Micros counts_for = limit_.rate().per.count() * (limit_.algorithm() == Algorithm::fixed_window ? 1 : 2);
        const auto is_over = [&](const auto& one) { return one.first + counts_for <= event.time.latest; };
        std::erase_if(counts_, is_over);
        std::erase_if(counts_before_, is_over);
      }
      if (event.kind == Kind::renumbered) renumber(event.time.passed, event.units > 0);
      if (event.kind != Kind::admitted) continue;
      const std::uint64_t excess = is_bucket() ? pour(event) : count(event);
      if (excess > credit_) return Excess{event.time.at, excess - credit_};
      credit_ -= excess;
    }
    return {};
  }

 private:
  enum class Kind : std::uint8_t { admitted, credit, forgotten, stepped_back, renumbered };
  struct Event {
    StoreTime time;
    std::uint64_t units;
    Micros window;
    Kind kind;
  };
  __extension__ using Level = __int128;  // in N-ths of microseconds, at N units per so many microseconds

  [[nodiscard]] bool is_bucket() const noexcept { return limit_.algorithm() < Algorithm::fixed_window; }

  // Used units count by the time that they take; held units, by the new numbers. The minimum that is possible.
  void renumber(Micros passed, bool forgives) {
    const Limit next = later_limits_[renumbered_++];
    if (is_bucket()) {
      drain(passed);
      const auto [old_rate, old_per] = limit_.rate();
      const auto [new_rate, new_per] = next.rate();
      const auto old_units = static_cast<double>(level_) / static_cast<double>(old_per.count());
      const double old_token = static_cast<double>(old_per.count()) / static_cast<double>(old_rate);
      const double new_token = static_cast<double>(new_per.count()) / static_cast<double>(new_rate);
      const double units = old_units * std::min(1.0, old_token / new_token) - 1;
      level_ = static_cast<Level>(std::max(0.0, units) * static_cast<double>(new_per.count()));
    }
    limit_ = next;
    counts_before_ = forgives ? counts_ : Counts{};
  }

  void drain(Micros passed) {
    level_ = std::max<Level>(0, level_ - Level{passed - at_} * static_cast<Level>(limit_.rate().count));
    at_ = passed;
  }

  // Both return the units beyond the limit, and drop them.
  std::uint64_t pour(const Event& event) {
    const Level token = limit_.rate().per.count();
    drain(event.time.passed);
    level_ += static_cast<Level>(event.units) * token;
    const Level over = level_ - static_cast<Level>(limit_.capacity()) * token;
    if (over <= 0) return 0;
    const auto excess = static_cast<std::uint64_t>((over + token - 1) / token);
    level_ -= static_cast<Level>(excess) * token;
    return excess;
  }
  std::uint64_t count(const Event& event) {
    counts_[event.window] += event.units;
    const std::uint64_t most = std::max(limit_.capacity(), used(counts_before_, event));
    const std::uint64_t now = used(counts_, event);
    const std::uint64_t excess = now - std::min(now, most);
    counts_[event.window] -= std::min(counts_[event.window], excess);
    return excess;
  }

  using Counts = std::map<Micros, std::uint64_t>;  // by the start of the window

  // The units of `counts` that count at an admission.
  [[nodiscard]] std::uint64_t used(const Counts& counts, const Event& event) const {
    const auto of = [&](Micros window) {
      const auto found = counts.find(window);
      return found == counts.end() ? 0 : found->second;
    };
    if (limit_.algorithm() == Algorithm::fixed_window) return of(event.window);
    const Micros length = limit_.rate().per.count();
    const Micros into = std::clamp<Micros>(event.time.latest - event.window, 0, length - 1);
    return of(event.window) + core::multiply_divide_ceil(of(event.window - length),
                                                         static_cast<std::uint64_t>(length - into),
                                                         static_cast<std::uint64_t>(length));
  }

  Limit limit_;
  std::vector<Limit> later_limits_;
  std::size_t renumbered_ = 0;  // number of limits already in effect
  std::vector<Event> events_;
  std::uint64_t credit_ = 0;
  Level level_ = 0;
  Micros at_ = 0;
  Counts counts_;
  Counts counts_before_;  // admitted before the numbers changed
};

}  // namespace weir::simulation
