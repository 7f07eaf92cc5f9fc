// `calendar_edges ZONE FROM TO` prints the windows of each unit between two seconds, one per line: the unit and its
// four edges. calendar_edges_test.py compares them with Python's zoneinfo.
#include <cstdint>
#include <cstdlib>
#include <iostream>

#include "policy/calendar.h"

int main(int count, char** arguments) {
  using weir::core::CalendarUnit;
  if (count != 4) return 2;
  constexpr std::int64_t second = 1'000'000;
  const std::int64_t from = std::atoll(arguments[2]) * second;
  const std::int64_t to = std::atoll(arguments[3]) * second;
  for (const auto unit : {CalendarUnit::day, CalendarUnit::week, CalendarUnit::month, CalendarUnit::year}) {
    const auto calendar = weir::policy::find_calendar(unit, arguments[1]);
    if (!calendar) {
      std::cerr << calendar.error().message() << '\n';
      return 1;
    }
    for (std::int64_t now = from; now < to;) {
      const weir::core::WindowEdges edges = (*calendar)->around(now);
      std::cout << name_of(unit);
      for (const std::int64_t edge : {edges.previous_start, edges.start, edges.end, edges.next_end}) {
        std::cout << ' ' << edge / second;
      }
      std::cout << '\n';
      now = edges.end;
    }
  }
}
