// The identity of a state: the limit's name, the purpose, the algorithm and the window, or the calendar unit. The
// numbers, the tier, the time zone and the lease of holds are not part of it, because they can change under a state.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/calendar.h"
#include "weir/limit.h"
#include "weir/time.h"

namespace weir::store {

enum class Purpose : std::uint8_t { live, candidate, warnings, denials, block, descriptors, overrides };

[[nodiscard]] std::string_view name_of(Purpose purpose) noexcept;

struct StateId {
  std::string limit;  // the limit's name; for descriptors and overrides, their domain
  Purpose purpose = Purpose::live;
  Algorithm algorithm = Algorithm::gcra;
  Duration window{};  // zero for algorithms without a window and for calendars
  std::optional<core::CalendarUnit> unit{};

  friend auto operator<=>(const StateId&, const StateId&) = default;
};

[[nodiscard]] StateId state_id(std::string limit_name, Purpose purpose, const Limit& limit);

// The file name of the states: readable, portable, and unique per identity.
inline constexpr std::string_view state_name_prefix = "limit-";
[[nodiscard]] std::string state_name(const StateId& id);

}  // namespace weir::store
