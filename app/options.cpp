#include "app/options.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "base/percent.h"
#include "text/yaml/problem.h"

namespace weir::app {
namespace {

std::string check_entry(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals != std::string::npos && equals > 0) return {};
  return fmt::format("`{}` is not KEY=VALUE, like remote_address=192.0.2.7", text);
}

[[noreturn]] void reject(const std::string& problem) {
  throw CLI::ParseError(problem, CLI::ExitCodes::ValidationError);
}

}  // namespace

CLI::Option* add_words(CLI::App& line, const std::string& name, std::vector<std::string> words,
                       const std::string& description, std::function<void(std::size_t)> chosen) {
  const auto is_one_of = [words](const std::string& text) -> std::string {
    if (std::ranges::find(words, text) != words.end()) return {};
    const auto meant = text::closest(text, words);
    return fmt::format("`{}` is not one of {}{}", text, fmt::join(words, ", "),
                       meant ? fmt::format("; did you mean `{}`?", *meant) : "");
  };
  const auto choose = [words, chosen = std::move(chosen)](const std::string& text) {
    chosen(static_cast<std::size_t>(std::ranges::find(words, text) - words.begin()));
  };
  // Completions read the words from the validator's description.
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

void add_check(CLI::Option* option, std::string (*check)(const std::string&)) {
  option->check(CLI::Validator([check](std::string& text) { return check(text); }, ""));
}

void add_merge_domains(CLI::App& line, bool& merges_domains) {
  line.add_flag("--merge-domains", merges_domains, "Allow several files per domain, like merge_domains in weir.yaml");
}

std::vector<std::pair<std::string, std::string>> DescriptorOption::pairs() const {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& entry : entries) {
    const std::size_t equals = entry.find('=');
    pairs.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return pairs;
}

std::string DescriptorOption::target(const std::string& verb) const {
  std::string target = "/v1/domains/" + percent_encoded(domain) + "/descriptor" + verb;
  char separator = '?';
  for (const auto& [key, value] : pairs()) {
    target += separator;
    separator = '&';
    target += percent_encoded(key, Encoding::parameter) + "=" + percent_encoded(value, Encoding::parameter);
  }
  return target;
}

void add_descriptor(CLI::App& line, DescriptorOption& option) {
  add_text(line, "--domain", option.domain, "DOMAIN", "Domain of a descriptor, instead of the above");
  add_check(
      add_texts(line, "--descriptor", option.entries, "KEY=VALUE", "Entry of the descriptor; repeat it, in order"),
      check_entry);
}

void check_descriptor(const DescriptorOption& option, const std::vector<std::pair<std::string, bool>>& others) {
  for (const auto& [name, is_given] : others) {
    if (is_given == option.is_given()) {
      reject(is_given ? fmt::format("{} and --descriptor: only one of them can be given", name)
                      : fmt::format("{} is required", name));
    }
  }
  if (!option.is_given()) return;
  if (option.domain.empty()) reject("--domain is required with --descriptor");
  if (option.entries.empty()) reject("--descriptor KEY=VALUE is required with --domain");
}

std::string percent_encoded(std::string_view text, Encoding encoding) {
  return base::percent_encoded(text, [encoding](char c) {
    return base::is_unreserved(c) || c == ':' || (c == '=' && encoding != Encoding::parameter);
  });
}

}  // namespace weir::app
