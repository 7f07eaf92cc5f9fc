// The texts under which states are kept in Redis; decide.lua, which writes them, says what they mean.
//
// Reading is strict: one way to write each number, each below 2^53. False, and the state is not to be used, if the text
// is not one of a state.
#pragma once

#include <string_view>

#include "core/algorithm/fixed_window.h"
#include "core/algorithm/sliding_window_counter.h"
#include "core/arrival.h"
#include "weir/time.h"

namespace weir::store::redis {

[[nodiscard]] bool read_state(std::string_view text, const core::ArrivalLimit& limit, Instant now,
                              core::ArrivalState& state) noexcept;
[[nodiscard]] bool read_state(std::string_view text, const core::WindowLimit& limit, Instant now,
                              core::FixedWindow::State& state) noexcept;
[[nodiscard]] bool read_state(std::string_view text, const core::WindowLimit& limit, Instant now,
                              core::SlidingWindowCounter::State& state) noexcept;

}  // namespace weir::store::redis
