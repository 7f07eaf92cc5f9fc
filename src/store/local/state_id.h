// What makes two states the same: the limit's name, what is counted, the algorithm and the window; of a calendar, its
// unit. The numbers, the tier and the zone are not part of it, nor is the lease of holds: they may change under a
// state.
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
  std::string limit;  // its name; of descriptors and overrides, their domain
  Purpose purpose = Purpose::live;
  Algorithm algorithm = Algorithm::gcra;
  Duration window{};  // zero where the algorithm has none, or a calendar has
  std::optional<core::CalendarUnit> unit{};

  friend auto operator<=>(const StateId&, const StateId&) = default;
};

[[nodiscard]] StateId state_id(std::string limit_name, Purpose purpose, const Limit& limit);

// The states' name among files: readable, in letters that any file system has, and different for different states.
inline constexpr std::string_view state_name_prefix = "limit-";
[[nodiscard]] std::string state_name(const StateId& id);

}  // namespace weir::store
