#include "app/command_hints.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/ascii.h"
#include "text/yaml/problem.h"

namespace weir::app {
namespace {

constexpr auto stop_hint = "stop a server with SIGTERM, a service with `systemctl stop weir`";
constexpr auto config_hint = "`weir serve --check` validates weir.yaml and shows the settings in effect";

// Words that users of other servers type. A value without a space is the command to suggest.
constexpr std::array<std::pair<std::string_view, std::string_view>, 57> intents{{
    {"validate", "lint"},  {"check", "lint"},         {"verify", "lint"},
    {"assert", "test"},    {"list", "lint"},          {"limits", "lint"},
    {"start", "serve"},    {"run", "serve"},          {"server", "serve"},
    {"listen", "serve"},   {"daemon", "serve"},       {"up", "serve"},
    {"restart", "reload"}, {"refresh", "reload"},     {"apply", "reload"},
    {"update", "reload"},  {"unban", "unblock"},      {"raise", "override"},
    {"allow", "reset"},    {"clear", "reset"},        {"flush", "reset"},
    {"delete", "reset"},   {"remove", "reset"},       {"forget", "reset"},
    {"info", "status"},    {"stats", "status"},       {"state", "status"},
    {"ps", "status"},      {"metrics", "status"},     {"denied", "status"},
    {"watch", "top"},      {"monitor", "top"},        {"live", "top"},
    {"dashboard", "top"},  {"get", "peek"},           {"show", "peek"},
    {"inspect", "peek"},   {"usage", "peek"},         {"ready", "health"},
    {"ping", "health"},    {"healthcheck", "health"}, {"why", "explain"},
    {"match", "explain"},  {"compare", "diff"},       {"replay", "simulate"},
    {"new", "init"},       {"create", "init"},        {"generate", "init"},
    {"manual", "man"},     {"stop", stop_hint},       {"shutdown", stop_hint},
    {"kill", stop_hint},   {"ban", "block"},          {"credit", "grant"},
    {"deny", "block"},     {"config", config_hint},   {"version", "`weir --version` prints the version"},
}};

// A typo seldom changes the first letter: `stop` is not a misspelt `top`, nor `ban` a misspelt `man`.
bool is_misspelling(std::string_view word, std::string_view command) {
  const bool same_letters = word.size() == command.size() && std::ranges::is_permutation(word, command);
  return same_letters || command.ends_with(word) || (!word.empty() && base::to_lower(word.front()) == command.front());
}

}  // namespace

std::string command_hint(std::string_view word, std::span<const std::string> commands) {
  const std::string lower = base::lower(word);
  const auto intent = std::ranges::find(intents, lower, [](const auto& each) { return each.first; });
  if (intent != intents.end()) {
    const bool is_command = intent->second.find(' ') == std::string_view::npos;
    return is_command ? fmt::format("did you mean `weir {}`?", intent->second) : std::string(intent->second);
  }
  std::vector<std::string> candidates;
  std::ranges::copy_if(commands, std::back_inserter(candidates),
                       [&](const std::string& command) { return is_misspelling(lower, command); });
  const auto meant = text::closest(word, candidates);
  return meant ? fmt::format("did you mean `weir {}`?", *meant) : "";
}

}  // namespace weir::app
