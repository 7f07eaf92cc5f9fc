#include "server/check.h"

#include "engine/engine.h"
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
  if (config.store.redis) check_store(*config.store.redis, report);
  return report;
}

}  // namespace weir::server
