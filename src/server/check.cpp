#include "server/check.h"

#include <string_view>

#include "engine/engine.h"
#include "net/tls_context.h"
#include "policy/roster.h"
#include "server/memory_shares.h"
#include "server/store_check.h"
#include "server/token_file.h"

namespace weir::server {
namespace {

void check_door(std::string_view name, const DoorConfig& door, CheckReport& report) {
  const auto note = [&](const Error& error) {
    report.errors.push_back("doors." + std::string(name) + ": " + error.message());
  };
  if (door.tls) {
    if (const auto loaded = net::TlsContext::load(*door.tls); !loaded) note(loaded.error());
  }
  if (door.token_file) {
    if (const auto token = read_token(*door.token_file); !token) note(token.error());
  }
}

}  // namespace

CheckReport check(const Loaded& loaded) {
  CheckReport report;
  const Config& config = *loaded.config;
  report.lines = describe(config);
  report.lines.insert(report.lines.begin(), loaded.config_line);
  for (const std::string& line : policy::roster(*loaded.ruleset)) report.lines.push_back("limit: " + line);
  for (const policy::Problem& problem : loaded.problems) {
    if (problem.severity == policy::Severity::warning) report.lines.push_back("warning: " + problem.text());
  }
  const auto engine = engine::Engine::create(loaded.ruleset, {.memory_budget = policy_memory(config), .hash_key = {}});
  if (!engine) report.errors.push_back("state.memory: " + engine.error().message());
  if (config.doors.http) check_door("http", *config.doors.http, report);
  if (config.doors.rls) check_door("rls", *config.doors.rls, report);
  if (config.doors.resp) check_door("resp", *config.doors.resp, report);
  if (config.doors.admin) check_door("admin", *config.doors.admin, report);
  if (config.store.redis) check_store(*config.store.redis, report);
  return report;
}

}  // namespace weir::server
