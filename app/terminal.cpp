#include "app/terminal.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include <fmt/core.h>

#include "app/commands.h"
#include "text/utf8.h"

namespace weir::app {
namespace {

// Must be called before other threads exist.
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
  while (!text.empty()) {
    const std::size_t length = text::utf8_length(text);
    const char32_t code = length == 0 ? static_cast<unsigned char>(text.front()) : text::first_code_point(text);
    if (code == '\n') {
      shown += "\\n";
    } else if (length == 0 || (length == 1 && text::is_hidden(code))) {
      shown += fmt::format("\\x{:02x}", static_cast<std::uint32_t>(code));
    } else if (text::is_hidden(code)) {
      shown += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(code));
    } else {
      shown += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
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
