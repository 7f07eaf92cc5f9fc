// The order of a log compared with a stable sort, and its invariants for any disorder.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "simulate/line_order.h"

namespace weir::simulate {
namespace {

using namespace std::chrono_literals;

struct Event {
  std::int64_t at = 0;  // microseconds
  std::string name;

  friend bool operator==(const Event&, const Event&) = default;
};

void showValue(const Event& event, std::ostream& out) {  // NOLINT(readability-identifier-naming): RapidCheck's name
  out << event.name << "@" << event.at;
}

std::vector<Event> replayed(LineOrder& order, const std::vector<Event>& events, Grain grain) {
  std::vector<Event> left;
  const auto drain = [&] {
    while (const LogEntry* entry = order.pop()) {
      left.push_back({entry->at.time_since_epoch().count(), std::string(entry->target)});
    }
  };
  for (const Event& event : events) {
    order.push({.at = Instant{Duration{event.at}}, .target = event.name, .grain = grain});
    drain();
  }
  order.finish();
  drain();
  return left;
}

// A log whose lines are up to `behind` late.
std::vector<Event> log_within(std::int64_t behind, std::int64_t step, std::int64_t unit) {
  const auto steps = *rc::gen::container<std::vector<std::pair<int, int>>>(rc::gen::pair(
      rc::gen::inRange<int>(0, static_cast<int>(step) + 1), rc::gen::inRange<int>(0, static_cast<int>(behind) + 1)));
  std::vector<Event> events;
  std::int64_t newest = 0;
  for (const auto& [ahead, back] : steps) {
    newest += ahead;
    events.push_back({(newest - back) * unit, std::to_string(events.size())});
  }
  return events;
}

RC_GTEST_PROP(LineOrderProperty, WithinTheSpanItIsAStableSort, ()) {
  const auto span = *rc::gen::inRange<std::int64_t>(0, 50);
  const auto events = log_within(span, 20, 1);
  LineOrder order({.span = Duration{span}}, WholeSeconds::stacked);
  auto expected = events;
  std::ranges::stable_sort(expected, {}, &Event::at);
  RC_ASSERT(replayed(order, events, Grain::finer) == expected);
  RC_ASSERT(order.late() == 0U);
}

RC_GTEST_PROP(LineOrderProperty, SpreadingKeepsTheOrderAndEachEntryInItsSecond, ()) {
  const auto span = *rc::gen::inRange<std::int64_t>(0, 5);
  const auto events = log_within(span, 1, 1'000'000);
  LineOrder order({.span = std::chrono::seconds{span}});
  auto expected = events;
  std::ranges::stable_sort(expected, {}, &Event::at);
  std::map<std::int64_t, std::int64_t> size;
  for (const Event& event : events) ++size[event.at];
  std::map<std::int64_t, std::int64_t> place;
  for (Event& event : expected) {
    const std::int64_t second = event.at;
    event.at += 1'000'000 * place[second]++ / size[second];
  }
  RC_ASSERT(replayed(order, events, Grain::second) == expected);
}

RC_GTEST_PROP(LineOrderProperty, NothingIsLostAndTimeNeverDecreases, ()) {
  const auto times = *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(0, 20'000'000));
  const auto grain = *rc::gen::element(Grain::second, Grain::finer);
  const OrderBounds bounds{.span = Duration{*rc::gen::inRange(0, 10'000'000)},
                           .max_entries = *rc::gen::inRange<std::size_t>(0, 20)};
  LineOrder order(bounds, *rc::gen::element(WholeSeconds::spread, WholeSeconds::stacked));
  std::vector<Event> events;
  for (const std::int64_t at : times) {
    events.push_back({grain == Grain::second ? at / 1'000'000 * 1'000'000 : at, std::to_string(events.size())});
  }
  const auto left = replayed(order, events, grain);
  RC_ASSERT(std::ranges::is_sorted(left, {}, &Event::at));
  std::vector<std::string> names_in;
  std::vector<std::string> names_out;
  for (const Event& event : events) names_in.push_back(event.name);
  for (const Event& event : left) names_out.push_back(event.name);
  std::ranges::sort(names_in);
  std::ranges::sort(names_out);
  RC_ASSERT(names_in == names_out);
}

}  // namespace
}  // namespace weir::simulate
