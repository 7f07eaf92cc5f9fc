#include <fmt/core.h>
#include <fmt/ranges.h>

#include "app/completion_script.h"

namespace weir::app {
namespace {

// The words of the line so far: which command, and what stands before the one to complete. Bash splits
// `--format=json` at the sign, which is then a word of its own.
constexpr auto opening = R"(# Completes the command line of weir. In ~/.bashrc:  source <(weir completion bash)

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

constexpr auto closing = R"(}

complete -F _weir weir
)";

std::string names_of(const CommandTree& command) {
  std::string names;
  for (const CommandTree& part : command.commands) names += part.name + " ";
  for (const Completable& option : command.options) names += fmt::format("{} ", fmt::join(option.names, " "));
  if (!names.empty()) names.pop_back();
  return names;
}

std::string action(const Completable& value) {
  if (!value.choices.empty()) return fmt::format("_weir_words '{}'", fmt::join(value.choices, " "));
  return value.is_file ? "_weir_files" : ":";  // what else it may be, only the user knows
}

// After an option that takes a value, only that value is completed.
std::string value_cases(const CommandTree& command) {
  std::string cases;
  for (const Completable& option : command.options) {
    if (option.shown.empty()) continue;
    for (const std::string& name : option.names) {
      cases += fmt::format("    '{} {}') {}; return ;;\n", command.name, name, action(option));
    }
  }
  return cases;
}

// Where an argument stands, all of its kind are alike: files, or words.
std::string argument_case(const CommandTree& command) {
  return command.arguments.empty() ? std::string()
                                   : fmt::format("    {}) {} ;;\n", command.name, action(command.arguments.front()));
}

}  // namespace

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
  std::string script = fmt::format(opening, names);
  script += "  case \"$command $before\" in\n" + values + "  esac\n";
  script += "  if [[ $current == -* ]]; then\n    case $command in\n" + options + "    esac\n    return\n  fi\n";
  script += "  case $command in\n" + arguments + "  esac\n";
  return script + closing;
}

}  // namespace weir::app
