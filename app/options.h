// Kinds of options that several subcommands have. The message about an invalid value says what is valid.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the parser, whose header takes seconds to compile
class App;
class Option;
}  // namespace CLI

namespace weir::app {

template <class T>
struct Word {
  std::string_view word;
  T means;
};

// Adds an option whose value is one of several words. `chosen` is called with the index of the last word given.
CLI::Option* add_words(CLI::App& line, const std::string& name, std::vector<std::string> words,
                       const std::string& description, std::function<void(std::size_t)> chosen);

// `value` must outlive the parsing.
template <class T, std::size_t count>
CLI::Option* add_choice(CLI::App& line, const std::string& name, T& value, const std::array<Word<T>, count>& words,
                        const std::string& description) {
  std::vector<std::string> texts;
  texts.reserve(count);
  for (const auto& word : words) texts.emplace_back(word.word);
  return add_words(line, name, std::move(texts), description,
                   [&value, words](std::size_t i) { value = words[i].means; });
}

// Adds an option that takes any text. `shown` is the name of its value in the help.
CLI::Option* add_text(CLI::App& line, const std::string& name, std::string& value, const std::string& shown,
                      const std::string& description);

// Adds an option that takes any text and may be repeated, with one value each time.
CLI::Option* add_texts(CLI::App& line, const std::string& name, std::vector<std::string>& values,
                       const std::string& shown, const std::string& description);

// Adds an option that takes a file path, with completion. A name without dashes makes it an argument.
CLI::Option* add_file(CLI::App& line, const std::string& name, std::string& value, const std::string& description);

// Adds an option that takes one or more file paths.
CLI::Option* add_files(CLI::App& line, const std::string& name, std::vector<std::string>& values,
                       const std::string& description);

// `check` returns an error message, or an empty text for a valid value.
void add_check(CLI::Option* option, std::string (*check)(const std::string&));

// Output formats. Each subcommand supports some of them.
enum class Format { text, json, markdown, github };

void add_merge_domains(CLI::App& line, bool& merges_domains);

// A descriptor: --domain NAME --descriptor KEY=VALUE, repeated for each of its entries.
struct DescriptorOption {
  std::string domain;
  std::vector<std::string> entries;  // KEY=VALUE

  [[nodiscard]] bool is_given() const noexcept { return !entries.empty() || !domain.empty(); }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> pairs() const;

  // Returns the target of a request: /v1/domains/edge/descriptor?remote_address=192.0.2.7
  [[nodiscard]] std::string target(const std::string& verb) const;
};

// `option` must outlive the parsing.
void add_descriptor(CLI::App& line, DescriptorOption& option);

// Throws CLI::ParseError unless either a complete descriptor or `others` is given, but not both.
void check_descriptor(const DescriptorOption& option, const std::vector<std::pair<std::string, bool>>& others);

// `value` encodes a path segment or a parameter's value; `parameter` encodes a parameter's name, in which `=` is
// special.
enum class Encoding { value, parameter };
[[nodiscard]] std::string percent_encoded(std::string_view text, Encoding encoding = Encoding::value);

}  // namespace weir::app
