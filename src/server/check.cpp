#include "server/check.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "engine/engine.h"
#include "engine/outage_share.h"
#include "net/tls_context.h"
#include "policy/words.h"
#include "server/protocols.h"
#include "server/secrets.h"

namespace weir::server {
namespace {

void check_files(const Listener& listener, CheckReport& report) {
  const auto note = [&](const Error& error) {
    report.errors.push_back("listeners." + listener.name + ": " + error.message());
  };
  if (listener.config->tls) {
    if (const auto loaded = net::TlsContext::load(*listener.config->tls); !loaded) note(loaded.error());
  }
  if (listener.config->token_file) {
    if (const auto token = read_token(*listener.config->token_file); !token) note(token.error());
  }
}

// Describes what the limit does while the store is unavailable, for the first tier that has numbers.
void add_outage_line(const policy::CompiledLimit& limit, const RedisConfig& redis, CheckReport& report) {
  const auto& numbers = limit.live.by_tier;
  const auto first = std::ranges::find_if(numbers, [](const auto& tier) { return tier.has_value(); });
  if (first == numbers.end()) return;
  const auto tier = static_cast<std::size_t>(first - numbers.begin());
  report.lines.push_back("store unavailable: " + limit.name + ": " +
                         engine::outage_text(limit, **first, tier, redis.nodes));
}

}  // namespace

CheckReport check(const Loaded& loaded) {
  CheckReport report;
  const Config& config = *loaded.config;
  report.lines = describe(config);
  report.lines.insert(report.lines.begin(), loaded.config_line);
  for (const std::string& line : policy::ruleset_lines(*loaded.ruleset)) report.lines.push_back("limit: " + line);
  for (const text::Problem& problem : loaded.problems) {
    if (problem.severity == text::Severity::warning) report.lines.push_back("warning: " + problem.text());
  }
  const auto engine = engine::Engine::create(loaded.ruleset, {.memory_budget = policy_memory(config), .hash_key = {}});
  if (!engine) report.errors.push_back("state.memory: " + engine.error().message());
  for (const Listener& listener : config.listeners) {
    if (listener.config) check_files(listener, report);
  }
  if (config.receipts.key_file) {
    if (const auto keys = read_receipt_keys(*config.receipts.key_file); !keys) {
      report.errors.push_back("receipts: " + keys.error().message());
    }
  }
  if (!config.store.redis) return report;
  report.lines.push_back("store unavailable: limits are divided by " + std::to_string(config.store.redis->nodes) +
                         " nodes (store.redis.nodes) until nodes are counted");
  for (const policy::CompiledLimit& limit : loaded.ruleset->limits) add_outage_line(limit, *config.store.redis, report);
  check_store(*config.store.redis, report);
  return report;
}

}  // namespace weir::server
