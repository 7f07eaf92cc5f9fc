#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "app/command_tree.h"
#include "app/commands.h"
#include "app/options.h"
#include "app/terminal.h"

namespace weir::app {
namespace {

// Finds the command and the word before the one to complete. Bash splits `--format=json` into three words.
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
  for (const CommandOption& option : command.options) names += fmt::format("{} ", fmt::join(option.names, " "));
  if (!names.empty()) names.pop_back();
  return names;
}

std::string bash_action(const CommandOption& value) {
  if (!value.choices.empty()) return fmt::format("_weir_words '{}'", fmt::join(value.choices, " "));
  return value.is_file ? "_weir_files" : ":";  // any text
}

// After an option that takes a value, completes only that value.
std::string value_cases(const CommandTree& command) {
  std::string cases;
  for (const CommandOption& option : command.options) {
    if (option.shown.empty()) continue;
    for (const std::string& name : option.names) {
      cases += fmt::format("    '{} {}') {}; return ;;\n", command.name, name, bash_action(option));
    }
  }
  return cases;
}

// Completes every argument like the first: files, or words.
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

// zsh runs a file found in $fpath as the body of _weir, which must then call the function it has just defined. A file
// that is sourced only registers the function.
constexpr auto zsh_closing = R"(}

if [[ ${funcstack[1]} == _weir ]]; then
  _weir "$@"
else
  compdef _weir weir
fi
)";

// Escapes text for single quotes, and for the brackets and colons that delimit descriptions.
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

std::string zsh_action(const CommandOption& value) {
  if (!value.choices.empty()) return fmt::format("({})", fmt::join(value.choices, " "));
  return value.is_file ? "_files" : " ";
}

std::string option_spec(const CommandOption& option) {
  std::string spec = option.is_repeated ? "'*'" : fmt::format("'({})'", fmt::join(option.names, " "));
  spec += option.names.size() == 1 ? option.names.front() : fmt::format("{{{}}}", fmt::join(option.names, ","));
  const bool takes_value = !option.shown.empty();
  // `=` allows both --format json and --format=json.
  if (takes_value) spec += "=";
  spec += fmt::format("'[{}]", zsh_escaped(option.description));
  if (takes_value) spec += fmt::format(":{}:{}", zsh_escaped(option.shown), zsh_action(option));
  return spec + "'";
}

std::string argument_spec(const CommandOption& argument) {
  return fmt::format("'{}:{}:{}'", argument.is_repeated ? "*" : "", zsh_escaped(argument.shown), zsh_action(argument));
}

std::string specs_of(const CommandTree& command, std::string_view indent) {
  std::string specs;
  for (const CommandOption& option : command.options) specs += fmt::format(" \\\n{}{}", indent, option_spec(option));
  for (const CommandOption& argument : command.arguments) {
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

// In fish each completion has a condition: the command on the line, or an empty text before a command is typed.
constexpr auto fish_opening =
    R"(# Completes the command line of weir. In ~/.config/fish/completions/weir.fish, or:  weir completion fish | source

function __weir_command_is --argument-names wanted
  for word in (commandline -opc)[2..]
    if contains -- $word {0}
      test "$word" = "$wanted"
      return
    end
  end
  test -z "$wanted"
end

complete -c weir -f
)";

// Quotes text with single quotes.
std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\\' || c == '\'') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string fish_value(const CommandOption& value) {
  if (!value.choices.empty()) return fmt::format(" -x -a '{}'", fmt::join(value.choices, " "));
  return value.is_file ? " -r -F" : value.shown.empty() ? "" : " -x";
}

std::string fish_options(const CommandTree& command, const std::string& condition) {
  std::string lines;
  for (const CommandOption& option : command.options) {
    lines += fmt::format("complete -c weir -n {}", fish_quoted(condition));
    for (const std::string& name : option.names) {
      lines += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    lines += fmt::format("{} -d {}\n", fish_value(option), fish_quoted(option.description));
  }
  return lines;
}

// Completes every argument like the first, as in bash.
std::string fish_argument(const CommandTree& command, const std::string& condition) {
  if (command.arguments.empty()) return {};
  const CommandOption& argument = command.arguments.front();
  if (argument.choices.empty() && !argument.is_file) return {};
  return fmt::format("complete -c weir -n {}{}\n", fish_quoted(condition),
                     argument.is_file ? " -F" : fmt::format(" -a '{}'", fmt::join(argument.choices, " ")));
}

std::string fish_completion(const CommandTree& tree) {
  std::string names;
  std::string lines = fish_options(tree, "__weir_command_is \"\"");
  for (const CommandTree& command : tree.commands) {
    const std::string condition = "__weir_command_is " + command.name;
    names += (names.empty() ? "" : " ") + command.name;
    lines += fmt::format("complete -c weir -n '__weir_command_is \"\"' -a {} -d {}\n", command.name,
                         fish_quoted(command.description));
    lines += fish_options(command, condition) + fish_argument(command, condition);
  }
  return fmt::format(fish_opening, names) + lines;
}

enum class Shell { bash, zsh, fish };

constexpr std::array<Word<Shell>, 3> shells{{{"bash", Shell::bash}, {"zsh", Shell::zsh}, {"fish", Shell::fish}}};

std::string completion_for(Shell shell, const CommandTree& tree) {
  switch (shell) {
    case Shell::bash:
      return bash_completion(tree);
    case Shell::zsh:
      return zsh_completion(tree);
    case Shell::fish:
      break;
  }
  return fish_completion(tree);
}

constexpr auto completion_footer =
    "Examples:\n"
    "  source <(weir completion bash)                                # in ~/.bashrc\n"
    "  weir completion zsh > /usr/local/share/zsh/site-functions/_weir\n"
    "  weir completion fish > ~/.config/fish/completions/weir.fish\n"
    "\n"
    "Exit codes: 0 success, 1 the script could not be written, 2 usage error.";

}  // namespace

Command completion_command(CLI::App& weir) {
  auto shell = std::make_shared<Shell>(Shell::bash);
  auto* line = weir.add_subcommand("completion", "Print a shell completion script");
  line->footer(completion_footer);
  add_choice(*line, "SHELL", *shell, shells, "The shell")->required();
  return {line, [shell, &weir] {
            print(completion_for(*shell, read_command_tree(weir)));
            return ok;
          }};
}

}  // namespace weir::app
