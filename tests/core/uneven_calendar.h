// A calendar for tests: windows of about its length, but never exactly, and different for each number. Two calendars of
// one length with different numbers are like two zones.
#pragma once

#include <cstdint>
#include <string>

#include "core/calendar.h"
#include "core/instant.h"

namespace weir::core {

class UnevenCalendar final : public Calendar {
 public:
  UnevenCalendar(Duration length, std::uint64_t number)
      : Calendar(CalendarUnit::month, "uneven" + std::to_string(number)), length_(length.count()), number_(number) {}

  // Edges are at least half a length and at most one and a half apart.
  [[nodiscard]] std::int64_t edge(std::int64_t index) const noexcept {
    const std::uint64_t mixed = (static_cast<std::uint64_t>(index) + number_ * 977) * 0x9E3779B97F4A7C15U;
    return index * length_ + static_cast<std::int64_t>((mixed >> 32) % static_cast<std::uint64_t>(length_ / 2));
  }

 private:
  [[nodiscard]] WindowEdges find(std::int64_t now) const noexcept override {
    std::int64_t index = window_start(now, length_) / length_;
    if (edge(index) > now) --index;
    return {edge(index - 1), edge(index), edge(index + 1), edge(index + 2)};
  }

  std::int64_t length_;
  std::uint64_t number_;
};

}  // namespace weir::core
