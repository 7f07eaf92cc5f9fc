// Windows that follow the dates of a place. Their lengths differ, so their edges are given, not computed from a length:
// who gives them knows dates and zones (policy/calendar.h), the core does not.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "weir/time.h"

namespace weir::core {

enum class CalendarUnit : std::uint8_t { day, week, month, year };

[[nodiscard]] constexpr std::string_view name_of(CalendarUnit unit) noexcept {
  constexpr std::array<std::string_view, 4> words{"day", "week", "month", "year"};
  return words[static_cast<std::size_t>(unit)];
}

// About as long as most windows of the unit are: for comparisons, never to decide.
[[nodiscard]] constexpr Duration usual_length(CalendarUnit unit) noexcept {
  constexpr std::array<int, 4> days{1, 7, 30, 365};
  return std::chrono::days{days[static_cast<std::size_t>(unit)]};
}

// A window and its neighbours: [previous_start, start), [start, end), [end, next_end), in microseconds. They rise.
struct WindowEdges {
  std::int64_t previous_start = 0;
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::int64_t next_end = 0;

  [[nodiscard]] bool contains(std::int64_t now) const noexcept {
    const auto from_start = [this](std::int64_t at) {
      return static_cast<std::uint64_t>(at) - static_cast<std::uint64_t>(start);
    };
    return from_start(now) < from_start(end);
  }
  // Whether `end_of_other` is nearer to the end of this window than to the ends of its neighbours: what counts there
  // counts here, if the two were made from other zones or other data.
  [[nodiscard]] bool is_ended_by(std::int64_t end_of_other) const noexcept {
    return 2 * end_of_other > start + end && 2 * end_of_other <= end + next_end;
  }

  friend bool operator==(const WindowEdges&, const WindowEdges&) = default;
};

// The windows of one unit in one zone. Callable from any thread; outlives every limit that has it.
class Calendar {
 public:
  Calendar(CalendarUnit unit, std::string zone) : unit_(unit), zone_(std::move(zone)) {}
  Calendar(const Calendar&) = delete;
  Calendar& operator=(const Calendar&) = delete;
  virtual ~Calendar() = default;

  [[nodiscard]] CalendarUnit unit() const noexcept { return unit_; }
  [[nodiscard]] const std::string& zone() const noexcept { return zone_; }

  // The window that an instant is in. Of one that was just asked for, a load and a compare.
  [[nodiscard]] WindowEdges around(std::int64_t now) const noexcept {
    const WindowEdges* const last = last_.load(std::memory_order_acquire);
    return last->contains(now) ? *last : find(now);
  }

 protected:
  // Works them out, and may remember() them.
  [[nodiscard]] virtual WindowEdges find(std::int64_t now) const noexcept = 0;

  // They stay, unchanged, for as long as the calendar does.
  void remember(const WindowEdges& edges) const noexcept { last_.store(&edges, std::memory_order_release); }

 private:
  static constexpr WindowEdges none{};  // contains nothing

  CalendarUnit unit_;
  std::string zone_;
  mutable std::atomic<const WindowEdges*> last_{&none};
};

}  // namespace weir::core
