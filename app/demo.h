// `weir demo`: the algorithms at work, on virtual time.
#pragma once

namespace weir::app {

// Prints to the standard output. False when something went wrong; then it was said on the standard error.
[[nodiscard]] bool demo();

}  // namespace weir::app
