// What WEIR.CHECK, WEIR.PEEK and WEIR.RESET ask: `NAME limit consumer [COST n] [TIER tier] [MAXWAIT milliseconds]`.
#pragma once

#include <span>
#include <string_view>

#include "engine/named.h"

namespace weir::door {

// `arguments` is the whole command: at least three.
[[nodiscard]] inline engine::NamedAsk named_ask(std::span<const std::string_view> arguments) noexcept {
  return {.limit = arguments[1], .consumer = arguments[2]};
}

// The options behind them, in any order. What is wrong, as to be replied; empty: nothing.
[[nodiscard]] std::string_view read_options(std::span<const std::string_view> words, engine::NamedAsk& ask) noexcept;

}  // namespace weir::door
