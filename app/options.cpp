#include "app/options.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "policy/suggestion.h"

namespace weir::app {

CLI::Option* add_words(CLI::App& line, const std::string& name, std::vector<std::string> words,
                       const std::string& description, std::function<void(std::size_t)> chosen) {
  const auto is_one_of = [words](const std::string& text) -> std::string {
    if (std::ranges::find(words, text) != words.end()) return {};
    const auto meant = policy::closest(text, words);
    return fmt::format("`{}` is not one of {}{}", text, fmt::join(words, ", "),
                       meant ? fmt::format("; did you mean `{}`?", *meant) : "");
  };
  const auto choose = [words, chosen = std::move(chosen)](const std::string& text) {
    chosen(static_cast<std::size_t>(std::ranges::find(words, text) - words.begin()));
  };
  // The completion reads the words from the validator's description.
  const CLI::Validator validator([is_one_of](std::string& text) { return is_one_of(text); },
                                 fmt::format("{{{}}}", fmt::join(words, ",")));
  return line.add_option_function<std::string>(name, choose, description)
      ->option_text(fmt::format("{}", fmt::join(words, "|")))
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->check(validator);
}

CLI::Option* add_text(CLI::App& line, const std::string& name, std::string& value, const std::string& shown,
                      const std::string& description) {
  return line.add_option(name, value, description)->type_name(shown)->option_text(shown);
}

CLI::Option* add_texts(CLI::App& line, const std::string& name, std::vector<std::string>& values,
                       const std::string& shown, const std::string& description) {
  return line.add_option(name, values, description)->type_name(shown)->option_text(shown)->allow_extra_args(false);
}

CLI::Option* add_file(CLI::App& line, const std::string& name, std::string& value, const std::string& description) {
  auto* option = line.add_option(name, value, description)->type_name("FILE");
  return option->option_text(option->get_positional() ? " " : "FILE");
}

CLI::Option* add_files(CLI::App& line, const std::string& name, std::vector<std::string>& values,
                       const std::string& description) {
  auto* option = line.add_option(name, values, description)->type_name("FILE");
  return option->option_text(option->get_positional() ? "..." : "FILE...");
}

}  // namespace weir::app
