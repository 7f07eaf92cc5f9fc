// Options of the kinds that several subcommands have. The message about a wrong value says what would be right.
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

// One of some words; `chosen` gets the index of the last one that was written.
CLI::Option* add_words(CLI::App& line, const std::string& name, std::vector<std::string> words,
                       const std::string& description, std::function<void(std::size_t)> chosen);

// `value` outlives the parsing.
template <class T, std::size_t count>
CLI::Option* add_choice(CLI::App& line, const std::string& name, T& value, const std::array<Word<T>, count>& words,
                        const std::string& description) {
  std::vector<std::string> texts;
  texts.reserve(count);
  for (const auto& word : words) texts.emplace_back(word.word);
  return add_words(line, name, std::move(texts), description,
                   [&value, words](std::size_t i) { value = words[i].means; });
}

// Text of any kind; `shown` is what the help calls it.
CLI::Option* add_text(CLI::App& line, const std::string& name, std::string& value, const std::string& shown,
                      const std::string& description);

// May be repeated, one value each time.
CLI::Option* add_texts(CLI::App& line, const std::string& name, std::vector<std::string>& values,
                       const std::string& shown, const std::string& description);

// The path of a file, completed as one. Without dashes, `name` is that of an argument.
CLI::Option* add_file(CLI::App& line, const std::string& name, std::string& value, const std::string& description);

// One or more, as a shell's pattern gives them.
CLI::Option* add_files(CLI::App& line, const std::string& name, std::vector<std::string>& values,
                       const std::string& description);

// `check` says what is wrong with a value; empty: nothing.
void add_check(CLI::Option* option, std::string (*check)(const std::string&));

// How to show something. Each subcommand has its own selection.
enum class Format { text, json, markdown, github };

void add_merge_domains(CLI::App& line, bool& merges_domains);

// A descriptor: --domain NAME --descriptor KEY=VALUE, repeated for each of its entries.
struct DescriptorOption {
  std::string domain;
  std::vector<std::string> entries;  // as written

  [[nodiscard]] bool is_given() const noexcept { return !entries.empty() || !domain.empty(); }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> pairs() const;

  // At the admin listener: /v1/domains/edge/descriptor?remote_address=192.0.2.7
  [[nodiscard]] std::string target(const std::string& verb) const;
};

// `option` outlives the parsing.
void add_descriptor(CLI::App& line, DescriptorOption& option);

// What is wrong with the command line, thrown as the parser does: a descriptor that is not whole, or beside `others`;
// or neither.
void check_descriptor(const DescriptorOption& option, const std::vector<std::pair<std::string, bool>>& others);

// For a segment of a target or a parameter's value; or for a parameter's name, in which `=` has a meaning.
enum class Encoding { value, parameter };
[[nodiscard]] std::string percent_encoded(std::string_view text, Encoding encoding = Encoding::value);

}  // namespace weir::app
