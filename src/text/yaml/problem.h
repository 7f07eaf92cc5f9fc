// What is wrong with a file, in all its places: a reviewer wants every mistake at once, not the first. And the words
// that messages have in common.
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

// A place in a file, as editors count: from one.
struct Mark {
  int line = 1;
  int column = 1;

  friend auto operator<=>(const Mark&, const Mark&) = default;
};

// A value, and where it was written.
template <class T>
struct Written {
  T value{};
  Mark at;
};

enum class Severity { error, warning };

// The name of a kind of warning, by which it is looked up and silenced: `unverified-key`. Text that is never freed.
struct Rule {
  std::string_view name;

  friend auto operator<=>(const Rule&, const Rule&) = default;
};

// Of warnings that nobody looks up by name.
inline constexpr Rule no_rule{};

struct Problem {
  Severity severity = Severity::error;
  std::string file;
  Mark at;
  std::string message;
  Rule rule = no_rule;  // of a warning

  // The message, and for a warning with a rule its name: `... [unverified-key]`
  [[nodiscard]] std::string named_message() const;

  // FILE:LINE:COLUMN: named message
  [[nodiscard]] std::string text() const;
};

// That warnings of a rule are not wanted in one line.
struct Allowance {
  int line = 0;
  Rule rule;
  Mark at;  // where it was written

  friend bool operator==(const Allowance&, const Allowance&) = default;
};

// The problems of one file, bounded: after `most` of a severity, one line says that there are more.
class Problems {
 public:
  static constexpr std::size_t most = 100;

  explicit Problems(std::string file) : file_(std::move(file)) {}

  void error(Mark at, std::string message) { add(Severity::error, at, no_rule, std::move(message)); }
  void warning(Mark at, Rule rule, std::string message) { add(Severity::warning, at, rule, std::move(message)); }

  // The message as fmt::format() makes it.
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

  // Warnings of this rule in this line are dropped from now on.
  void allow(Allowance allowance) { allowed_[{allowance.line, allowance.rule}] = {allowance.at, false}; }
  // Those that have dropped nothing.
  [[nodiscard]] std::vector<Allowance> unused_allowances() const;

  [[nodiscard]] bool any_error() const noexcept { return errors_ > 0; }
  [[nodiscard]] std::size_t errors() const noexcept { return errors_; }
  [[nodiscard]] const std::string& file() const noexcept { return file_; }

  // In the order of their places, each once.
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
  std::size_t errors_ = 0;                           // also those beyond `most`, which are not in the list
  std::size_t warnings_ = 0;
};

// In quotes, without control characters, and not longer than a line.
[[nodiscard]] std::string in_quotes(std::string_view text);

// The known word with the fewest edits from `word`; empty when none is near. Of equals, the first.
[[nodiscard]] std::optional<std::string> closest(std::string_view word, std::span<const std::string> known);

// ", did you mean 'burst'?", or nothing: the end of a message.
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string> known);

}  // namespace weir::text
