// What is shown to a person: colours, where they are welcome, and nothing that steers a terminal otherwise.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace weir::app {

[[nodiscard]] bool is_terminal(std::FILE* stream) noexcept;

// Colours on a terminal that has them, unless NO_COLOR is set (https://no-color.org); plain text elsewhere.
class Paint {
 public:
  explicit Paint(std::FILE* stream) noexcept;

  [[nodiscard]] bool is_on() const noexcept { return on_; }
  [[nodiscard]] std::string red(std::string_view text) const { return wrapped("31", text); }
  [[nodiscard]] std::string green(std::string_view text) const { return wrapped("32", text); }
  [[nodiscard]] std::string yellow(std::string_view text) const { return wrapped("33", text); }
  [[nodiscard]] std::string bold(std::string_view text) const { return wrapped("1", text); }
  [[nodiscard]] std::string faint(std::string_view text) const { return wrapped("2", text); }

 private:
  [[nodiscard]] std::string wrapped(std::string_view code, std::string_view text) const;

  bool on_;
};

// What files and arguments contain, fit to be shown: control characters and bytes that are not UTF-8 as \x1b, line
// breaks as \n, characters that are not seen and act as \u202e.
[[nodiscard]] std::string printable(std::string_view text);

// To the standard output. A failure is found at the end, when it is flushed.
void print(std::string_view text) noexcept;

// Ends a command that failed: says why on the standard error, and gives the exit code.
[[nodiscard]] int give_up(const std::string& why);

// `1 error`, `2 errors`.
[[nodiscard]] std::string counted(std::size_t count, std::string_view what);

}  // namespace weir::app
