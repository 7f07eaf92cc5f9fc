#include "app/terminal.h"

#include <unistd.h>

#include <cstdlib>

#include <fmt/core.h>

#include "app/commands.h"

namespace weir::app {
namespace {

// Before any thread is started.
std::string_view variable(const char* name) noexcept {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? "" : value;
}

}  // namespace

bool is_terminal(std::FILE* stream) noexcept {
  return isatty(fileno(stream)) == 1;
}

Paint::Paint(std::FILE* stream) noexcept
    : on_(is_terminal(stream) && variable("NO_COLOR").empty() && variable("TERM") != "dumb") {}

std::string Paint::wrapped(std::string_view code, std::string_view text) const {
  return on_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

std::string printable(std::string_view text) {
  std::string shown;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      shown += "\\n";
    } else if (byte < 0x20 || byte == 0x7F) {
      shown += fmt::format("\\x{:02x}", byte);
    } else {
      shown += c;
    }
  }
  return shown;
}

void print(std::string_view text) noexcept {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

int give_up(const std::string& why) {
  fmt::print(stderr, "weir: {}\n", printable(why));
  return failed;
}

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace weir::app
