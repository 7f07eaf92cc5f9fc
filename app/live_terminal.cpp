#include "app/live_terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include <fmt/core.h>

#include "app/terminal.h"

namespace weir::app {
namespace {

// Switches to the alternate screen and hides the cursor.
constexpr std::string_view enter_sequence = "\x1b[?1049h\x1b[?25l\x1b[2J";
constexpr std::string_view leave_sequence = "\x1b[0m\x1b[?25h\x1b[?1049l";

std::string environment_text(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before any thread is started
  return value == nullptr ? "" : value;
}

bool write_all(std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

tl::unexpected<Error> terminal_failure() {
  return failure("the terminal", std::generic_category().message(errno));
}

std::string_view code_of(Ink ink, bool has_colours) {
  switch (ink) {
    case Ink::plain:
      return "";
    case Ink::bold:
      return "1";
    case Ink::faint:
      return "2";
    case Ink::reverse:
      return "7";
    case Ink::red:
      return has_colours ? "31" : "";
    case Ink::green:
      return has_colours ? "32" : "";
    case Ink::yellow:
      return has_colours ? "33" : "";
  }
  return "";
}

}  // namespace

std::string painted(const Line& line, bool has_colours) {
  std::string out;
  for (const Span& span : line) {
    const std::string_view code = code_of(span.ink, has_colours);
    out += code.empty() ? span.text : fmt::format("\x1b[{}m{}\x1b[0m", code, span.text);
  }
  return out;
}

Charset charset_of_terminal() {
  // The first variable that is set takes precedence (POSIX).
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string value = environment_text(name);
    if (value.empty()) continue;
    const bool is_utf8 = value.find("UTF-8") != std::string::npos || value.find("utf8") != std::string::npos ||
                         value.find("utf-8") != std::string::npos;
    return is_utf8 ? Charset::unicode : Charset::ascii;
  }
  return Charset::ascii;
}

Size size_of_terminal() {
  winsize found{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &found) != 0 || found.ws_col == 0 || found.ws_row == 0) return {};
  return {.columns = found.ws_col, .rows = found.ws_row};
}

bool LiveTerminal::is_there() {
  const std::string kind = environment_text("TERM");
  return is_terminal(stdin) && is_terminal(stdout) && !kind.empty() && kind != "dumb";
}

Result<void> LiveTerminal::enter() {
  if (tcgetattr(STDIN_FILENO, &before_) != 0) return terminal_failure();
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);  // Ctrl-C and Ctrl-Z still send signals
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  if (tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw) != 0) return terminal_failure();
  is_taken_ = true;
  if (!write_all(enter_sequence)) return terminal_failure();
  return {};
}

void LiveTerminal::leave() noexcept {
  if (!is_taken_) return;
  is_taken_ = false;
  // A failure means that the terminal was closed.
  (void)write_all(leave_sequence);
  (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
}

Result<void> LiveTerminal::draw(const std::vector<Line>& lines, bool has_colours) {
  std::string out;
  // Clears each line first: clearing after a full line would erase its last character.
  for (std::size_t i = 0; i < lines.size(); ++i) {
    out += fmt::format("\x1b[{};1H\x1b[2K", i + 1) + painted(lines[i], has_colours);
  }
  if (!write_all(out)) return terminal_failure();
  return {};
}

std::string LiveTerminal::read() {
  std::array<char, 256> buffer{};
  const ssize_t count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
  return count <= 0 ? std::string() : std::string(buffer.data(), static_cast<std::size_t>(count));
}

}  // namespace weir::app
