// Suggestions for commands that do not exist.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace weir::app {

// Returns the end of the message about an unknown command: the command that does what `word` means (`weir lint` for
// `validate`), or the one that `word` misspells. Returns an empty text if there is neither.
[[nodiscard]] std::string command_hint(std::string_view word, std::span<const std::string> commands);

}  // namespace weir::app
