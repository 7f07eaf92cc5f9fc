#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "app/commands.h"
#include "app/options.h"
#include "app/terminal.h"

namespace weir::app {
namespace {

// The command line as a completion needs it: read from the parser, so that both agree.
struct Completable {
  std::vector<std::string> names;  // with their dashes; none: an argument
  std::string shown;               // what the help calls its value; empty: it takes none
  std::string description;
  std::vector<std::string> choices;  // where only these words will do
  bool is_file = false;
  bool is_repeated = false;
};

struct CommandTree {
  std::string name;
  std::string description;
  std::vector<Completable> options;
  std::vector<Completable> arguments;
  std::vector<CommandTree> commands;
};

// A type is `TEXT:{text,json}` where add_choice (options.h) made it.
std::vector<std::string> read_choices(const std::string& type) {
  const std::size_t open = type.find('{');
  const std::size_t close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

Completable read_option(const CLI::Option& option) {
  Completable read;
  for (const std::string& name : option.get_snames()) read.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) read.names.push_back("--" + name);
  read.description = option.get_description();
  read.is_repeated = option.get_expected_max() > 1;
  if (option.get_items_expected_max() == 0) return read;  // a flag
  const std::string type = option.get_type_name();
  read.choices = read_choices(type);
  read.is_file = type == "FILE";
  read.shown = option.get_positional() ? option.get_name(true) : option.get_option_text();
  return read;
}

CommandTree read_command_tree(const CLI::App& line) {
  CommandTree tree;
  tree.name = line.get_name();
  tree.description = line.get_description();
  for (const CLI::Option* option : line.get_options()) {
    (option->get_positional() ? tree.arguments : tree.options).push_back(read_option(*option));
  }
  for (const CLI::App* command : line.get_subcommands({})) tree.commands.push_back(read_command_tree(*command));
  return tree;
}

// The words of the line so far: which command, and what stands before the one to complete. Bash splits
// `--format=json` at the sign, which is then a word of its own.
constexpr auto bash_opening = R"(# Completes the command line of weir. In ~/.bashrc:  source <(weir completion bash)

_weir_words() {{ local IFS=$' \t\n'; COMPREPLY=($(compgen -W "$1" -- "$current")); }}

_weir_files() {{
  local IFS=$'\n'
  COMPREPLY=($(compgen -f -- "$current"))
  compopt -o filenames 2>/dev/null || true
}}

_weir() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} command='' i
  if [[ $current == = ]]; then
    current=
  elif [[ $before == = ]]; then
    before=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${{COMP_WORDS[i]}} in
      {}) command=${{COMP_WORDS[i]}}; break ;;
    esac
  done
  COMPREPLY=()
)";

constexpr auto bash_closing = R"(}

complete -F _weir weir
)";

std::string names_of(const CommandTree& command) {
  std::string names;
  for (const CommandTree& part : command.commands) names += part.name + " ";
  for (const Completable& option : command.options) names += fmt::format("{} ", fmt::join(option.names, " "));
  if (!names.empty()) names.pop_back();
  return names;
}

std::string bash_action(const Completable& value) {
  if (!value.choices.empty()) return fmt::format("_weir_words '{}'", fmt::join(value.choices, " "));
  return value.is_file ? "_weir_files" : ":";  // what else it may be, only the user knows
}

// After an option that takes a value, only that value is completed.
std::string value_cases(const CommandTree& command) {
  std::string cases;
  for (const Completable& option : command.options) {
    if (option.shown.empty()) continue;
    for (const std::string& name : option.names) {
      cases += fmt::format("    '{} {}') {}; return ;;\n", command.name, name, bash_action(option));
    }
  }
  return cases;
}

// Where an argument stands, all of its kind are alike: files, or words.
std::string argument_case(const CommandTree& command) {
  return command.arguments.empty()
             ? std::string()
             : fmt::format("    {}) {} ;;\n", command.name, bash_action(command.arguments.front()));
}

std::string bash_completion(const CommandTree& tree) {
  std::string names;
  std::string values;
  std::string options = fmt::format("      '') _weir_words '{}' ;;\n", names_of(tree));
  std::string arguments = fmt::format("    '') _weir_words '{}' ;;\n", names_of(tree));
  for (const CommandTree& command : tree.commands) {
    names += (names.empty() ? "" : "|") + command.name;
    values += value_cases(command);
    options += fmt::format("      {}) _weir_words '{}' ;;\n", command.name, names_of(command));
    arguments += argument_case(command);
  }
  std::string script = fmt::format(bash_opening, names);
  script += "  case \"$command $before\" in\n" + values + "  esac\n";
  script += "  if [[ $current == -* ]]; then\n    case $command in\n" + options + "    esac\n    return\n  fi\n";
  script += "  case $command in\n" + arguments + "  esac\n";
  return script + bash_closing;
}

constexpr auto zsh_opening = R"(#compdef weir
# Completes the command line of weir. Put it into a folder of $fpath as _weir, or: source <(weir completion zsh)

_weir() {
  local curcontext=$curcontext state line
  typeset -A opt_args
)";

// As a file of $fpath it is the body of the function that is called; sourced, it only declares it.
constexpr auto zsh_closing = R"(}

if [[ ${funcstack[1]} == _weir ]]; then
  _weir "$@"
else
  compdef _weir weir
fi
)";

// Within single quotes, and within the brackets or before the colon that delimit a description.
std::string zsh_escaped(std::string_view text) {
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

std::string zsh_action(const Completable& value) {
  if (!value.choices.empty()) return fmt::format("({})", fmt::join(value.choices, " "));
  return value.is_file ? "_files" : " ";
}

std::string option_spec(const Completable& option) {
  std::string spec = option.is_repeated ? "'*'" : fmt::format("'({})'", fmt::join(option.names, " "));
  spec += option.names.size() == 1 ? option.names.front() : fmt::format("{{{}}}", fmt::join(option.names, ","));
  const bool takes_value = !option.shown.empty();
  // `=` allows both --format json and --format=json; a short option takes its value as the next word only.
  if (takes_value) spec += "=";
  spec += fmt::format("'[{}]", zsh_escaped(option.description));
  if (takes_value) spec += fmt::format(":{}:{}", zsh_escaped(option.shown), zsh_action(option));
  return spec + "'";
}

std::string argument_spec(const Completable& argument) {
  return fmt::format("'{}:{}:{}'", argument.is_repeated ? "*" : "", zsh_escaped(argument.shown), zsh_action(argument));
}

std::string specs_of(const CommandTree& command, std::string_view indent) {
  std::string specs;
  for (const Completable& option : command.options) specs += fmt::format(" \\\n{}{}", indent, option_spec(option));
  for (const Completable& argument : command.arguments) {
    specs += fmt::format(" \\\n{}{}", indent, argument_spec(argument));
  }
  return specs;
}

std::string zsh_completion(const CommandTree& tree) {
  std::string script = zsh_opening;
  script += "  _arguments -C" + specs_of(tree, "    ") +
            " \\\n    '1:command:->command' '*::argument:->argument' && return\n";
  script += "  case $state in\n    command)\n      local -a commands=(\n";
  for (const CommandTree& command : tree.commands) {
    script += fmt::format("        '{}:{}'\n", command.name, zsh_escaped(command.description));
  }
  script += "      )\n      _describe command commands\n      ;;\n    argument)\n      case $words[1] in\n";
  for (const CommandTree& command : tree.commands) {
    script += fmt::format("        {}) _arguments{} ;;\n", command.name, specs_of(command, "          "));
  }
  return script + "      esac\n      ;;\n  esac\n" + zsh_closing;
}

enum class Shell { bash, zsh };

constexpr std::array<Word<Shell>, 2> shells{{{"bash", Shell::bash}, {"zsh", Shell::zsh}}};

constexpr auto completion_footer =
    "Examples:\n"
    "  source <(weir completion bash)                                # in ~/.bashrc\n"
    "  weir completion zsh > /usr/local/share/zsh/site-functions/_weir\n"
    "\n"
    "Exit codes: 0 success, 1 it could not be written, 2 the command line is wrong.";

}  // namespace

Command completion_command(CLI::App& weir) {
  auto shell = std::make_shared<Shell>(Shell::bash);
  auto* line = weir.add_subcommand("completion", "Print a script that completes weir's command line");
  line->footer(completion_footer);
  add_choice(*line, "SHELL", *shell, shells, "The shell")->required();
  return {line, [shell, &weir] {
            const CommandTree tree = read_command_tree(weir);
            print(*shell == Shell::bash ? bash_completion(tree) : zsh_completion(tree));
            return ok;
          }};
}

}  // namespace weir::app
