// What a mistyped word was probably meant to be.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace weir::policy {

// The known word with the fewest edits from `word`; empty when none is near. Of equals, the first.
[[nodiscard]] std::optional<std::string> closest(std::string_view word, std::span<const std::string> known);

// ", did you mean 'burst'?", or nothing: the end of a message.
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string> known);

}  // namespace weir::policy
