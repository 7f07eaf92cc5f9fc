// The command line of the program `weir`: what may be written, and what it starts.
#pragma once

namespace weir::app {

// The exit code is 0 when all went well, 1 when the work failed, and 2 when the command line is wrong;
// then a message on the standard error says what is wrong and, where it can, what was meant.
int run(int argc, const char* const* argv);

}  // namespace weir::app
