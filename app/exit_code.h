// What the program says to the shell.
#pragma once

namespace weir::app {

inline constexpr int ok = 0;
inline constexpr int failed = 1;   // the work failed, or found what it looked for: mistakes
inline constexpr int misused = 2;  // the command line is wrong
inline constexpr int tighter = 3;  // weir diff: somebody could be denied who was not before

}  // namespace weir::app
