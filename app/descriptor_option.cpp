#include "app/descriptor_option.h"

#include <string_view>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "app/admin_client.h"
#include "app/options.h"

namespace weir::app {
namespace {

std::string check_entry(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals != std::string::npos && equals > 0) return {};
  return fmt::format("`{}` is not an entry, like remote_address=192.0.2.7", text);
}

[[noreturn]] void refuse(const std::string& problem) {
  throw CLI::ParseError(problem, CLI::ExitCodes::ValidationError);
}

}  // namespace

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
  add_text(line, "--domain", option.domain, "DOMAIN", "Instead, a descriptor: its domain");
  add_texts(line, "--descriptor", option.entries, "KEY=VALUE", "An entry of it; repeated, in their order")
      ->check(CLI::Validator([](std::string& text) { return check_entry(text); }, ""));
}

void check_descriptor(const DescriptorOption& option, const std::vector<std::pair<std::string, bool>>& others) {
  for (const auto& [name, is_given] : others) {
    if (is_given == option.is_given()) {
      refuse(is_given ? fmt::format("{} and --descriptor: only one of them can be asked about", name)
                      : fmt::format("{} is required", name));
    }
  }
  if (!option.is_given()) return;
  if (option.domain.empty()) refuse("--domain is required with --descriptor");
  if (option.entries.empty()) refuse("--descriptor KEY=VALUE is required with --domain");
}

}  // namespace weir::app
