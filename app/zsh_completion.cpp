#include <string_view>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "app/completion_script.h"

namespace weir::app {
namespace {

constexpr auto opening = R"(#compdef weir
# Completes the command line of weir. Put it into a folder of $fpath as _weir, or: source <(weir completion zsh)

_weir() {
  local curcontext=$curcontext state line
  typeset -A opt_args
)";

// As a file of $fpath it is the body of the function that is called; sourced, it only declares it.
constexpr auto closing = R"(}

if [[ ${funcstack[1]} == _weir ]]; then
  _weir "$@"
else
  compdef _weir weir
fi
)";

// Within single quotes, and within the brackets or before the colon that delimit a description.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
      continue;
    }
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string action(const Completable& value) {
  if (!value.choices.empty()) return fmt::format("({})", fmt::join(value.choices, " "));
  return value.is_file ? "_files" : " ";
}

std::string option_spec(const Completable& option) {
  std::string spec = option.is_repeated ? "'*'" : fmt::format("'({})'", fmt::join(option.names, " "));
  spec += option.names.size() == 1 ? option.names.front() : fmt::format("{{{}}}", fmt::join(option.names, ","));
  const bool takes_value = !option.shown.empty();
  // `=` allows both --format json and --format=json; a short option takes its value as the next word only.
  if (takes_value) spec += "=";
  spec += fmt::format("'[{}]", escaped(option.description));
  if (takes_value) spec += fmt::format(":{}:{}", escaped(option.shown), action(option));
  return spec + "'";
}

std::string argument_spec(const Completable& argument) {
  return fmt::format("'{}:{}:{}'", argument.is_repeated ? "*" : "", escaped(argument.shown), action(argument));
}

std::string specs_of(const CommandTree& command, std::string_view indent) {
  std::string specs;
  for (const Completable& option : command.options) specs += fmt::format(" \\\n{}{}", indent, option_spec(option));
  for (const Completable& argument : command.arguments) {
    specs += fmt::format(" \\\n{}{}", indent, argument_spec(argument));
  }
  return specs;
}

}  // namespace

std::string zsh_completion(const CommandTree& tree) {
  std::string script = opening;
  script += "  _arguments -C" + specs_of(tree, "    ") +
            " \\\n    '1:command:->command' '*::argument:->argument' && return\n";
  script += "  case $state in\n    command)\n      local -a commands=(\n";
  for (const CommandTree& command : tree.commands) {
    script += fmt::format("        '{}:{}'\n", command.name, escaped(command.description));
  }
  script += "      )\n      _describe command commands\n      ;;\n    argument)\n      case $words[1] in\n";
  for (const CommandTree& command : tree.commands) {
    script += fmt::format("        {}) _arguments{} ;;\n", command.name, specs_of(command, "          "));
  }
  return script + "      esac\n      ;;\n  esac\n" + closing;
}

}  // namespace weir::app
