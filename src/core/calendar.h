// Windows that follow calendar dates. Their lengths vary, so their edges are provided (policy/calendar.h), not
// computed: the core knows neither dates nor time zones.
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

// The approximate length of the unit's windows: for comparisons, never for decisions.
[[nodiscard]] constexpr Duration nominal_length(CalendarUnit unit) noexcept {
  constexpr std::array<int, 4> days{1, 7, 30, 365};
  return std::chrono::days{days[static_cast<std::size_t>(unit)]};
}

// A window and its neighbours: [previous_start, start), [start, end), [end, next_end), in microseconds, ascending.
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
  // True if `end_of_other` is nearer to the end of this window than to the ends of its neighbours. The other window was
  // computed from another zone or other zone data; its count then belongs to this window.
  [[nodiscard]] bool is_ended_by(std::int64_t end_of_other) const noexcept {
    return 2 * end_of_other > start + end && 2 * end_of_other <= end + next_end;
  }

  friend bool operator==(const WindowEdges&, const WindowEdges&) = default;
};

// The windows of one unit in one zone. Callable from any thread; must outlive every limit that refers to it.
class Calendar {
 public:
  Calendar(CalendarUnit unit, std::string zone) : unit_(unit), zone_(std::move(zone)) {}
  Calendar(const Calendar&) = delete;
  Calendar& operator=(const Calendar&) = delete;
  virtual ~Calendar() = default;

  [[nodiscard]] CalendarUnit unit() const noexcept { return unit_; }
  [[nodiscard]] const std::string& zone() const noexcept { return zone_; }

  // Returns the window of an instant. If it is the last window found, this costs a load and a comparison.
  [[nodiscard]] WindowEdges around(std::int64_t now) const noexcept {
    const WindowEdges* const last = last_.load(std::memory_order_acquire);
    return last->contains(now) ? *last : find(now);
  }

 protected:
  // Computes the window, and may remember() it.
  [[nodiscard]] virtual WindowEdges find(std::int64_t now) const noexcept = 0;

  // `edges` must stay valid and unchanged for the calendar's lifetime.
  void remember(const WindowEdges& edges) const noexcept { last_.store(&edges, std::memory_order_release); }

 private:
  static constexpr WindowEdges none{};  // an empty window: contains no instant

  CalendarUnit unit_;
  std::string zone_;
  mutable std::atomic<const WindowEdges*> last_{&none};
};

}  // namespace weir::core
