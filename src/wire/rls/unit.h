// The units of time that the rate limit service counts in. A month has 30 days, a year 365.
#pragma once

#include <cstdint>
#include <optional>

#include "weir/limit.h"
#include "weir/time.h"

namespace weir::wire::rls {

enum class Unit : std::uint8_t {
  unknown = 0,
  second = 1,
  minute = 2,
  hour = 3,
  day = 4,
  month = 5,
  year = 6,
  week = 7
};

// Empty for `unknown`, and for numbers that are no unit.
[[nodiscard]] std::optional<Duration> length_of(std::uint32_t unit) noexcept;

struct UnitRate {
  std::uint64_t requests = 0;
  Unit unit = Unit::unknown;

  friend bool operator==(const UnitRate&, const UnitRate&) = default;
};

// The rate in its own unit, or else in the shortest in which it is a whole number; of no unit if there is none.
[[nodiscard]] UnitRate in_units(const Rate& rate) noexcept;

}  // namespace weir::wire::rls
