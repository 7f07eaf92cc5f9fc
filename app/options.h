// Options of the kinds that several subcommands have. What a wrong value is told says what would be right.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/parser.h"

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

}  // namespace weir::app
