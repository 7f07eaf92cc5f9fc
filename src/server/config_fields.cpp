#include "server/config_fields.h"

#include <algorithm>
#include <chrono>

#include <fmt/core.h>
#include <fmt/format.h>

#include "policy/words.h"
#include "server/config_kinds.h"
#include "server/secrets.h"

namespace weir::server {
namespace {

using policy::duration_text;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Duration none = Duration::zero();
constexpr std::size_t kib = std::size_t{1} << 10;
constexpr std::size_t mib = std::size_t{1} << 20;
const std::vector<std::string> auth_header_names{"auto", "original", "forwarded", "path"};
const std::vector<std::string> level_names{"error", "warning", "info", "debug"};

// What --check says, where it takes more than an expression. Empty: nothing.
std::string say_listen(const Parts& parts) {
  std::vector<std::string> texts;
  for (const net::Address& address : parts.listener->config->listen) texts.push_back(address.text());
  return fmt::format("{} ({})", fmt::join(texts, ", "), parts.listener->origin);
}

std::string say_unix_mode(const Parts& parts) {
  const ListenerConfig& listener = *parts.listener->config;
  const bool has_socket = std::ranges::any_of(listener.listen, &net::Address::unix_socket);
  return has_socket ? fmt::format("mode {:04o}", listener.unix_mode) : "";
}

std::string say_tls(const Parts& parts) {
  const auto& tls = parts.listener->config->tls;
  return !tls ? "" : tls->client_ca.empty() ? "TLS" : "TLS with client certificates";
}

std::string say_hosts(const Parts& parts) {
  const auto& hosts = parts.listener->config->hosts;
  return hosts.empty() ? "" : fmt::format("hosts {}", fmt::join(hosts, " "));
}

std::string say_hold(const Parts& parts) {
  const ListenerConfig& http = *parts.listener->config;
  if (http.max_delayed == 0 || http.max_delay == Duration::zero()) return "no answer held";
  return fmt::format("up to {} answers held for up to {}", http.max_delayed, duration_text(http.max_delay));
}

std::string say_auth_headers(const Parts& parts) {
  const AuthHeaders headers = parts.listener->config->auth_headers;
  if (headers == AuthHeaders::automatic) return "";
  return "auth_headers " + auth_header_names[static_cast<std::size_t>(headers)];
}

std::string say_x_rate_limit(const Parts& parts) {
  const FieldChoice& choice = parts.config.fields.choice;
  if (!choice.x_rate_limit) return "";
  return choice.x_reset_as_epoch ? "X-RateLimit-* (epoch)" : "X-RateLimit-* (delta)";
}

std::string say_retry(const Parts& parts) {
  const Duration jitter = parts.config.fields.retry_jitter;
  if (jitter == Duration::zero()) return "Retry-After";
  return fmt::format("Retry-After with up to {} on top", duration_text(jitter));
}

std::string say_level(const Parts& parts) {
  const LogConfig& log = parts.config.log;
  return fmt::format("{} to {}", level_names[static_cast<std::size_t>(log.level)],
                     log.file ? log.file->string() : "standard error");
}

std::string say_denials(const Parts& parts) {
  const auto& denials = parts.config.log.denials;
  if (!denials) return "no denials";
  const Share sample = denials->sample;
  const std::string which =
      sample == Share{} ? "every denial" : fmt::format("{} of {} denials", sample.part, sample.whole);
  return fmt::format("{} up to {} a second", which, denials->per_second);
}

std::string say_urls(const Parts& parts) {
  std::vector<std::string> texts;
  for (const store::redis::Url& url : parts.config.store.redis->urls) texts.push_back(shown(url));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string say_user(const Parts& parts) {
  const RedisConfig& redis = *parts.config.store.redis;
  const bool in_url = !redis.urls.front().password.empty() || !redis.urls.front().user.empty();
  return in_url || redis.user.empty() ? "" : "user " + redis.user;
}

std::string say_redis_tls(const Parts& parts) {
  const RedisConfig& redis = *parts.config.store.redis;
  return !redis.with_tls() ? "" : redis.tls.certificate ? "TLS with a certificate" : "TLS";
}

std::string say_charge_all(const Parts& parts) {
  const std::vector<std::string>& domains = parts.config.charge_all;
  return domains.empty() ? "" : fmt::format("denied calls charge all of {}", fmt::join(domains, ", "));
}

std::string say_file(std::string_view what, const std::optional<std::filesystem::path>& file) {
  return file ? fmt::format("{} from {}", what, file->string()) : "";
}

std::string say_receipt_keys(const Parts& parts) {
  const Config& config = parts.config;
  if (config.receipts.key_file) return say_file("keys", config.receipts.key_file);
  if (config.store.redis) return "none can be given: nodes that share a store need one key, in receipts.key_file";
  if (config.state.directory.empty()) return "a key of this process: they end with it";
  return say_file("key", config.state.directory / receipt_key_file);
}

// In the order of --check: path, kind, help in the schema, part of a line of --check.
std::vector<Field> make_fields() {  // NOLINT(readability-function-size): it is one table
  using namespace kinds;            // NOLINT(google-build-using-namespace): the table is nothing but kinds
  using P = const Parts&;
  constexpr auto whole_section = Restart::section;

  constexpr auto other_hosts = "Host names to answer to, beyond addresses and localhost.";
  constexpr auto share = R"("oneOf": [{ "type": "string", "pattern": "^[1-9][0-9]{0,6}/[1-9][0-9]{0,6}$" }, )"
                         R"({ "type": "number", "exclusiveMinimum": 0, "maximum": 1 }])";
  constexpr auto both_tls_files = R"("dependentRequired": { "certificate": ["key"], "key": ["certificate"] })";
  constexpr auto user_with_password = R"("dependentRequired": { "user": ["password_file"] })";
  const std::string a_word = reference("word");
  return {
      {"version", required(version(), "version: 1"), "The version of this file's language."},
      {"policy", path(&Config::policy), "The policy file. Absent: the default policy.",
       [](P p) {
         return p.config.policy ? fmt::format("{} ({})", p.config.policy->string(), p.config.policy_origin)
                                : "the default one";
       }},
      {"merge_domains", truth(&Config::merge_domains),
       "Whether files in a directory of envoyproxy/ratelimit's may be for one domain. Default: false.",
       [](P p) { return p.config.merge_domains ? "domains merged" : ""; }, "policy"},
      {"domains", domains(),
       "For domains of envoyproxy/ratelimit's files, by name. denied: charge_all, and a denied call charges all of its "
       "descriptors, as there. Default: charge_nothing, but for what does not fit and is more than one hit.",
       [](P p) { return say_charge_all(p); }, "policy"},

      {"doors", refused("it is called listeners")},
      {"listeners", section(check_listeners),
       "Each is off, or a map; a listener that is not named is on, with its defaults."},
      {"listeners.*", restarts(whole_section, listener()), "",
       [](P p) { return p.listener->config ? "" : fmt::format("off ({})", p.listener->origin); }},
      {"listeners.*.listen", restarts(whole_section, one_or_more(&ListenerConfig::listen, "address", take_address)),
       "One address, or several.", say_listen},
      {"listeners.*.unix_mode", restarts(whole_section, unix_mode()),
       "Of a unix socket's file. Default: 0660, in quotes.", say_unix_mode},
      {"listeners.*.tls", restarts(whole_section, optional_section(&ListenerConfig::tls)),
       "PEM files. With client_ca, clients without a certificate of it are refused.", say_tls},
      {"listeners.*.tls.certificate", required(path(&net::TlsFiles::certificate_chain))},
      {"listeners.*.tls.key", required(path(&net::TlsFiles::key))},
      {"listeners.*.tls.client_ca", path(&net::TlsFiles::client_ca)},
      {"listeners.*.token_file", path(&ListenerConfig::token_file), "A file that holds the token to show.",
       [](P p) { return say_file("token", p.listener->config->token_file); }},
      {"listeners.*.exposed", truth(&ListenerConfig::exposed),
       "Others may use the listener without certificate or token. Default: false.",
       [](P p) { return p.listener->config->exposed ? "exposed" : ""; }},
      {"listeners.*.max_connections",
       restarts(whole_section, whole(&ListenerConfig::max_connections, {.least = 1, .most = 1'000'000})),
       "Default: 10000.",
       [](P p) { return fmt::format("at most {} connections", p.listener->config->max_connections); }},
      {"listeners.http.hosts", one_or_more(&ListenerConfig::hosts, "host", take_host), other_hosts, say_hosts},
      {"listeners.http.max_body",  // connections have their bounds from the start
       restarts(Restart::field, size(&ListenerConfig::max_body, {.least = kib, .most = 64 * mib})), "Default: 1MiB.",
       [](P p) { return "bodies up to " + size_text(p.listener->config->max_body); }},
      {"listeners.http.max_delay", time(&ListenerConfig::max_delay, {.least = none, .most = minutes(10)}),
       "How long an answer may be held for a queue. Default: 5s.", say_hold},
      {"listeners.http.max_delayed", whole(&ListenerConfig::max_delayed, {.least = 0, .most = 1'000'000}),
       "How many answers may be held. Default: 1000."},
      {"listeners.http.auth_headers", choice(&ListenerConfig::auth_headers, auth_header_names),
       "Where /v1/auth finds the request. Default: auto.", say_auth_headers},
      {"listeners.rls.max_message", size(&ListenerConfig::max_message, {.least = kib, .most = 16 * mib}),
       "Default: 1MiB.", [](P p) { return "messages up to " + size_text(p.listener->config->max_message); }},
      {"listeners.admin.hosts", one_or_more(&ListenerConfig::hosts, "host", take_host), other_hosts, say_hosts},

      {"state", section(check_state)},
      {"state.directory", restarts(whole_section, path(&StateConfig::directory)), "For the admin token and snapshots.",
       [](P p) { return p.config.state.directory.empty() ? "no directory" : p.config.state.directory.string(); }},
      {"state.memory", restarts(whole_section, size(&StateConfig::memory, {.least = mib, .most = mib * mib})),
       "For the states of all limits. Default: 256MiB.",
       [](P p) { return fmt::format("up to {} of memory", size_text(p.config.state.memory)); }},
      {"state.snapshot", section_or_off(&StateConfig::snapshot_every, Duration(minutes(1))),
       "Default: off, or every minute where a directory is written.",
       [](P p) {
         const auto& every = p.config.state.snapshot_every;
         return every ? "a snapshot every " + duration_text(*every) : "no snapshots";
       }},
      {"state.snapshot.every", time(&StateConfig::snapshot_every, {.least = seconds(1), .most = hours(24)}),
       "Default: 1min."},

      {"fields", section(), "Which header fields an answer carries."},
      {"fields.current", truth(&FieldChoice::rate_limit), "RateLimit and RateLimit-Policy. Default: true.",
       [](P p) { return p.config.fields.choice.rate_limit ? "RateLimit" : ""; }},
      {"fields.x_rate_limit", x_rate_limit(), "X-RateLimit-*, and what its reset is. Default: delta.",
       say_x_rate_limit},
      {"fields.legacy", truth(&FieldChoice::legacy_fields), "RateLimit-Limit, -Remaining and -Reset. Default: false.",
       [](P p) { return p.config.fields.choice.legacy_fields ? "RateLimit-*" : ""; }},
      {"fields.retry_jitter", time(&FieldsConfig::retry_jitter, {.least = none, .most = hours(1)}),
       "At most so much is added to Retry-After, at random. Default: 0s.", say_retry},

      {"log", restarts(whole_section, section_of(&Config::log))},
      {"log.level", choice(&LogConfig::level, level_names), "Default: info.", say_level},
      {"log.file", path(&LogConfig::file, "stderr"), "Default: stderr."},
      {"log.hash_key_file", path(&LogConfig::hash_key_file), "The key under which consumers are hashed."},
      {"log.denials", section_or_off(&LogConfig::denials), "", say_denials},
      {"log.denials.sample", text(&DenialLogConfig::sample, parse_sample, share),
       "Which share of them: 1/10 or 0.1. Default: 1."},
      {"log.denials.per_second", whole(&DenialLogConfig::per_second, {.least = 1, .most = 1'000'000}),
       "At most so many. Default: 100."},

      {"store", restarts(whole_section, store()), "Where states live. Default: local.",
       [](P p) { return p.config.store.redis ? "" : "this process"; }},
      {"store.local", section(), "In this process."},
      {"store.redis", optional_section(&StoreConfig::redis, check_redis), "In Redis, for all nodes alike."},
      {"store.redis.urls", required(one_or_more(&RedisConfig::urls, "redis_url", take_url), redis_example),
       "A server; several: seeds of a cluster or, with sentinel, the sentinels.", say_urls},
      {"store.redis.sentinel", optional_section(&RedisConfig::sentinel, check_sentinel, user_with_password)},
      {"store.redis.sentinel.master", required(text(&SentinelConfig::master, parse_word, a_word), "master: mymaster"),
       "The name that the sentinels know it by.",
       [](P p) { return "sentinels of " + p.config.store.redis->sentinel->master; }},
      {"store.redis.sentinel.user", text(&SentinelConfig::user, parse_word, a_word), "Of the sentinels."},
      {"store.redis.sentinel.password_file", path(&SentinelConfig::password_file), "Of the sentinels."},
      {"store.redis.user", text(&RedisConfig::user, parse_word, a_word), "Default: Redis's default user.", say_user},
      {"store.redis.password_file", path(&RedisConfig::password_file), "A file that holds the password.",
       [](P p) { return say_file("password", p.config.store.redis->password_file); }},
      {"store.redis.password", refused("write it into a file, and name that in password_file")},
      {"store.redis.tls", section(check_redis_tls, both_tls_files),
       "PEM files, for URLs that begin with rediss://. Default: the system's authorities, no certificate.",
       say_redis_tls},
      {"store.redis.tls.ca", path(&RedisTlsConfig::ca), "The authorities that sign the server's certificate.",
       [](P p) { return say_file("authorities", p.config.store.redis->tls.ca); }},
      {"store.redis.tls.certificate", path(&RedisTlsConfig::certificate), "Our own."},
      {"store.redis.tls.key", path(&RedisTlsConfig::key)},
      {"store.redis.tls.server_name", text(&RedisTlsConfig::server_name, parse_word, a_word),
       "The name in the server's certificate. Default: the host of the URL.",
       [](P p) {
         const std::string& name = p.config.store.redis->tls.server_name;
         return name.empty() ? "" : "server name " + name;
       }},
      {"store.redis.prefix",
       text(&RedisConfig::prefix, parse_prefix, R"("type": "string", "pattern": "^[!-z|~]{1,64}$")"),
       "Of every key. Default: weir:.", [](P p) { return fmt::format("keys {}*", p.config.store.redis->prefix); }},
      {"store.redis.key_secret_file", path(&RedisConfig::key_secret_file),
       "Consumers are hashed under what is in it. Default: keys are readable.",
       [](P p) { return p.config.store.redis->key_secret_file ? "hashed" : ""; }},
      {"store.redis.timeout", time(&RedisConfig::timeout, {.least = milliseconds(1), .most = seconds(10)}),
       "How long a decision may take. Default: 10ms.",
       [](P p) { return fmt::format("up to {} a decision", duration_text(p.config.store.redis->timeout)); }},
      {"store.redis.startup_timeout", time(&RedisConfig::startup_timeout, {.least = none, .most = minutes(1)}),
       "How long requests wait for Redis when the server starts; then on_store_failure decides. Default: 3s.",
       [](P p) {
         return fmt::format("waits for up to {} at startup", duration_text(p.config.store.redis->startup_timeout));
       }},
      {"store.redis.nodes", whole(&RedisConfig::nodes, {.least = 1, .most = policy::max_nodes}),
       "How many nodes share it at most: limits are divided by it until nodes are counted. Default: 64.",
       [](P p) {
         const std::uint64_t nodes = p.config.store.redis->nodes;
         return nodes == policy::default_nodes ? "" : fmt::format("at most {} nodes", nodes);
       }},
      {"store.redis.max_new_keys", whole(&RedisConfig::max_new_keys, {.least = 0, .most = 1'000'000}),
       "How many new keys of each limit this node sends per second. Consumers beyond it share keys. Default: 0, no "
       "bound.",
       [](P p) {
         const std::uint64_t most = p.config.store.redis->max_new_keys;
         return most == 0 ? "" : fmt::format("at most {} new keys per limit and second", most);
       }},
      {"store.redis.node_name", text(&RedisConfig::node_name, parse_word, a_word),
       "What this node is called in the list of nodes. Default: the host name and a random part.",
       [](P p) {
         const std::string& name = p.config.store.redis->node_name;
         return name.empty() ? "" : "node " + name;
       }},

      {"receipts", section(), "What reserves and holds are given."},
      {"receipts.key_file", path(&ReceiptsConfig::key_file),
       "The keys that seal them: 64 hexadecimal digits a line; the first seals, all open. Default: one in the state "
       "directory; with a shared store, none.",
       say_receipt_keys},

      {"loops", restarts(Restart::field, whole(&Config::loops, {.least = 1, .most = 1'024})),
       "Event loops. Default: one for each core.",
       [](P p) { return p.config.loops ? std::to_string(*p.config.loops) : "one for each core"; }},
      {"drain", time(&Config::drain, {.least = none, .most = hours(1)}),
       "How long requests in flight may take when the server stops. Default: 10s.",
       [](P p) { return duration_text(p.config.drain); }},
      {"grace", time(&Config::grace, {.least = none, .most = hours(1)}),
       "How long the listeners stay open after the signal to stop, while the server says that it is not ready. "
       "Default: 0s.",
       [](P p) { return p.config.grace > none ? fmt::format("after {} of grace", duration_text(p.config.grace)) : ""; },
       "drain"},
  };
}

// `listeners.*.tls` is `listeners.http.tls`.
bool is_section(std::string_view pattern, std::string_view section) {
  constexpr std::string_view any = "listeners.*";
  constexpr std::string_view prefix = "listeners.";
  if (pattern == section) return true;
  if (!pattern.starts_with(any) || !section.starts_with(prefix)) return false;
  const std::size_t dot = section.find('.', prefix.size());
  return pattern.substr(any.size()) == (dot == std::string_view::npos ? "" : section.substr(dot));
}

}  // namespace

const std::vector<Field>& fields() {
  static const std::vector<Field> all = make_fields();
  return all;
}

std::string_view last_segment(std::string_view path) noexcept {
  return path.substr(path.rfind('.') + 1);  // npos + 1 is 0
}

std::string_view Spot::name() const noexcept {
  return last_segment(path);
}

void visit_fields(std::string_view section, const Parts& parts, const Visit& visit) {
  const std::string prefix = section.empty() ? "" : std::string(section) + ".";
  for (const Field& field : fields()) {
    const std::size_t dot = field.path.rfind('.');
    if (!is_section(dot == std::string_view::npos ? "" : field.path.substr(0, dot), section)) continue;
    const std::string name(last_segment(field.path));
    if (name != "*") {
      visit(field, prefix + name, parts);
      continue;
    }
    for (Listener& listener : parts.config.listeners) visit(field, prefix + listener.name, {parts.config, &listener});
  }
}

}  // namespace weir::server
