// COMMAND, CONFIG and INFO, which clients send when they connect.
#include <algorithm>
#include <array>
#include <string>

#include "base/ascii.h"
#include "frontend/resp/argument.h"
#include "frontend/resp/session.h"

namespace weir::frontend {
namespace {

struct Setting {
  std::string_view name;
  std::string_view value;
};

// The settings that clients and redis-benchmark read.
constexpr Setting settings[] = {
    {"appendonly", "no"}, {"databases", "1"}, {"maxmemory", "0"}, {"maxmemory-policy", "noeviction"},
    {"save", ""},         {"timeout", "0"},
};

struct Section {
  std::string_view name;  // in lower case
  std::string_view text;
};

const std::array<Section, 3>& sections() {
  static const std::string server = "# Server\r\nredis_version:" + std::string(redis_version) +
                                    "\r\nredis_mode:standalone\r\nweir_version:" + std::string(weir_version) + "\r\n";
  static const std::array<Section, 3> all{{
      {"server", server},
      {"persistence", "# Persistence\r\nloading:0\r\n"},
      {"replication", "# Replication\r\nrole:master\r\nconnected_slaves:0\r\n"},
  }};
  return all;
}

// Matches a pattern of CONFIG GET: `*` is any bytes, `?` one byte; case is ignored. The time is bounded by the product
// of the lengths.
bool glob_matches(std::string_view pattern, std::string_view text) noexcept {
  std::size_t at = 0;     // position in the pattern
  std::size_t taken = 0;  // position in the text
  std::size_t star = std::string_view::npos;
  std::size_t taken_at_star = 0;
  while (taken < text.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      taken_at_star = taken;
    } else if (at < pattern.size() &&
               (pattern[at] == '?' || base::to_lower(pattern[at]) == base::to_lower(text[taken]))) {
      ++at;
      ++taken;
    } else if (star != std::string_view::npos) {  // the last star matches one byte more
      at = star + 1;
      taken = ++taken_at_star;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

bool means_all(std::string_view section) noexcept {
  return std::ranges::any_of(std::array{"all", "default", "everything"},
                             [&](std::string_view word) { return base::equals_lower(section, word); });
}

}  // namespace

void RespFrontend::Session::command_all(Arguments /*arguments*/, Writer& reply) {
  reply.array(commands().size());
  for (const Command& command : commands()) describe(command, reply);
}

void RespFrontend::Session::command_count(Arguments /*arguments*/, Writer& reply) {
  reply.integer(static_cast<std::int64_t>(commands().size()));
}

void RespFrontend::Session::command_list(Arguments /*arguments*/, Writer& reply) {
  reply.array(commands().size());
  for (const Command& command : commands()) reply.bulk(command.name.text());
}

void RespFrontend::Session::command_info(Arguments arguments, Writer& reply) {
  const Arguments names = arguments.subspan(2);
  if (names.empty()) return command_all(arguments, reply);
  reply.array(names.size());
  for (const std::string_view name : names) {
    if (const Command* const command = find(commands(), name)) {
      describe(*command, reply);
    } else {
      reply.null();
    }
  }
}

// Writes name, arity, flags, first key, last key and step; the further fields of Redis 7 are empty.
void RespFrontend::Session::describe(const Command& command, Writer& reply) {
  reply.array(10);
  reply.bulk(command.name.text());
  reply.integer(command.arity);
  reply.set(1);
  reply.simple_string("fast");
  reply.integer(command.key);
  reply.integer(command.key);
  reply.integer(command.key == 0 ? 0 : 1);
  reply.set(0);
  reply.array(0);
  reply.array(0);
  reply.array(0);
}

void RespFrontend::Session::command_docs(Arguments arguments, Writer& reply) {
  const Arguments names = arguments.subspan(2);
  const auto is_wanted = [&](const Command& command) {
    return names.empty() || std::ranges::any_of(names, [&](std::string_view name) { return command.name.is(name); });
  };
  reply.map(static_cast<std::size_t>(std::ranges::count_if(commands(), is_wanted)));
  for (const Command& command : commands()) {
    if (!is_wanted(command)) continue;
    reply.bulk(command.name.text());
    reply.map(2);
    reply.bulk("summary"), reply.bulk(command.summary);
    reply.bulk("group"), reply.bulk(command.name.text().find('.') == std::string_view::npos ? "connection" : "module");
  }
}

void RespFrontend::Session::config_get(Arguments arguments, Writer& reply) {
  const Arguments patterns = arguments.subspan(2);
  const auto is_wanted = [&](const Setting& setting) {
    return std::ranges::any_of(patterns, [&](std::string_view pattern) { return glob_matches(pattern, setting.name); });
  };
  reply.map(static_cast<std::size_t>(std::ranges::count_if(settings, is_wanted)));
  for (const Setting& setting : settings) {
    if (!is_wanted(setting)) continue;
    reply.bulk(setting.name);
    reply.bulk(setting.value);
  }
}

void RespFrontend::Session::info(Arguments arguments, Writer& reply) {
  const Arguments names = arguments.subspan(1);
  const bool wants_all = names.empty() || std::ranges::any_of(names, means_all);
  std::string text;
  for (const Section& section : sections()) {
    const auto is_named = [&](std::string_view name) { return base::equals_lower(name, section.name); };
    if (!wants_all && std::ranges::none_of(names, is_named)) continue;
    if (!text.empty()) text += "\r\n";
    text += section.text;
  }
  reply.verbatim(text);
}

}  // namespace weir::frontend
