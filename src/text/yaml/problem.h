// The problems of a file with their positions: all of them are reported, not only the first. Also helpers for messages.
#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace weir::text {

// A position in a file, counted from one.
struct Mark {
  int line = 1;
  int column = 1;

  friend auto operator<=>(const Mark&, const Mark&) = default;
};

// A value and its position.
template <class T>
struct Written {
  T value{};
  Mark at;
};

enum class Severity { error, warning };

// The name of a kind of warning, used for documentation and to silence it: `unverified-key`. The text is never freed.
struct Rule {
  std::string_view name;

  friend auto operator<=>(const Rule&, const Rule&) = default;
};

// The rule of warnings that have no name.
inline constexpr Rule no_rule{};

struct Problem {
  Severity severity = Severity::error;
  std::string file;
  Mark at;
  std::string message;
  Rule rule = no_rule;  // for warnings

  // The message and, for a warning with a rule, its name: `... [unverified-key]`
  [[nodiscard]] std::string named_message() const;

  // FILE:LINE:COLUMN: named message
  [[nodiscard]] std::string text() const;
};

// Silences warnings of a rule in one line.
struct Allowance {
  int line = 0;
  Rule rule;
  Mark at;  // position of the allowance

  friend bool operator==(const Allowance&, const Allowance&) = default;
};

// The problems of one file, bounded: after `max_listed` of a severity, one line reports how many more there are.
class Problems {
 public:
  static constexpr std::size_t max_listed = 100;

  explicit Problems(std::string file) : file_(std::move(file)) {}

  void error(Mark at, std::string message) { add(Severity::error, at, no_rule, std::move(message)); }
  void warning(Mark at, Rule rule, std::string message) { add(Severity::warning, at, rule, std::move(message)); }

  // Formats the message with fmt::format().
  template <class... Args>
  void error(Mark at, fmt::format_string<Args...> format, Args&&... args)
    requires(sizeof...(Args) > 0)
  {
    add(Severity::error, at, no_rule, fmt::format(format, std::forward<Args>(args)...));
  }
  template <class... Args>
  void warning(Mark at, Rule rule, fmt::format_string<Args...> format, Args&&... args)
    requires(sizeof...(Args) > 0)
  {
    add(Severity::warning, at, rule, fmt::format(format, std::forward<Args>(args)...));
  }

  // Drops further warnings of this rule in this line.
  void allow(Allowance allowance) { allowed_[{allowance.line, allowance.rule}] = {allowance.at, false}; }
  // Allowances that have dropped nothing.
  [[nodiscard]] std::vector<Allowance> unused_allowances() const;

  [[nodiscard]] bool any_error() const noexcept { return errors_ > 0; }
  [[nodiscard]] std::size_t errors() const noexcept { return errors_; }
  [[nodiscard]] const std::string& file() const noexcept { return file_; }

  // Returns the problems ordered by position, without duplicates.
  [[nodiscard]] std::vector<Problem> sorted() const;

 private:
  struct Allowed {
    Mark at;
    bool is_used = false;
  };

  void add(Severity severity, Mark at, Rule rule, std::string message);

  std::string file_;
  std::vector<Problem> list_;
  std::map<std::pair<int, Rule>, Allowed> allowed_;  // by line and rule
  std::size_t errors_ = 0;                           // including those beyond `max_listed`, which are not in the list
  std::size_t warnings_ = 0;
};

// Returns the text in quotes, without control characters, and no longer than a line.
[[nodiscard]] std::string in_quotes(std::string_view text);

// Returns the known word with the fewest edits from `word`, or the first of several; empty if none is close.
[[nodiscard]] std::optional<std::string> closest(std::string_view word, std::span<const std::string> known);

// Returns the end of a message, ", did you mean 'burst'?", or an empty text.
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string> known);

}  // namespace weir::text
