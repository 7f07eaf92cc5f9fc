// The parser of command lines, CLI11, by name only: its header takes seconds to compile.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
class Option;
}  // namespace CLI
