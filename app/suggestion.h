// What a mistyped word was probably meant to be.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace weir::app {

// The known word with the fewest edits from `word`; empty when none is near. Of equals, the first.
std::optional<std::string> closest(std::string_view word, std::span<const std::string> known);

}  // namespace weir::app
