// Output for people: colours if the terminal supports them, and no other control sequences.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace weir::app {

[[nodiscard]] bool is_terminal(std::FILE* stream) noexcept;

// Uses colours on a terminal that has them, unless NO_COLOR is set (https://no-color.org), and plain text elsewhere.
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

// Escapes text from files and arguments: control characters and invalid UTF-8 as \x1b, line breaks as \n, invisible
// characters as \u202e.
[[nodiscard]] std::string printable(std::string_view text);

// Prints to the standard output. Failures are detected by the final flush.
void print(std::string_view text) noexcept;

// Prints the error and returns the exit code of a failed command.
[[nodiscard]] int give_up(const std::string& why);

// `1 error`, `2 errors`.
[[nodiscard]] std::string counted(std::size_t count, std::string_view what);

}  // namespace weir::app
