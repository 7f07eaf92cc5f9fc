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

// These functions format the parts of --check lines that need more than an expression. An empty text is left out.
std::string describe_listen(const Parts& parts) {
  std::vector<std::string> texts;
  for (const net::Address& address : parts.listener->config->listen) texts.push_back(address.text());
  return fmt::format("{} ({})", fmt::join(texts, ", "), parts.listener->origin);
}

std::string describe_unix_mode(const Parts& parts) {
  const ListenerConfig& listener = *parts.listener->config;
  const bool has_socket = std::ranges::any_of(listener.listen, &net::Address::unix_socket);
  return has_socket ? fmt::format("mode {:04o}", listener.unix_mode) : "";
}

std::string describe_tls(const Parts& parts) {
  const auto& tls = parts.listener->config->tls;
  return !tls ? "" : tls->client_ca.empty() ? "TLS" : "TLS with client certificates";
}

std::string describe_hosts(const Parts& parts) {
  const auto& hosts = parts.listener->config->hosts;
  return hosts.empty() ? "" : fmt::format("hosts {}", fmt::join(hosts, " "));
}

std::string describe_delay(const Parts& parts) {
  const ListenerConfig& http = *parts.listener->config;
  if (http.max_delayed == 0 || http.max_delay == Duration::zero()) return "no delayed responses";
  return fmt::format("up to {} responses delayed by up to {}", http.max_delayed, duration_text(http.max_delay));
}

std::string describe_auth_headers(const Parts& parts) {
  const AuthHeaders headers = parts.listener->config->auth_headers;
  if (headers == AuthHeaders::automatic) return "";
  return "auth_headers " + auth_header_names[static_cast<std::size_t>(headers)];
}

std::string describe_x_rate_limit(const Parts& parts) {
  const FieldChoice& choice = parts.config.fields.choice;
  if (!choice.x_rate_limit) return "";
  return choice.x_reset_as_epoch ? "X-RateLimit-* (epoch)" : "X-RateLimit-* (delta)";
}

std::string describe_retry(const Parts& parts) {
  const Duration jitter = parts.config.fields.retry_jitter;
  if (jitter == Duration::zero()) return "Retry-After";
  return fmt::format("Retry-After with up to {} of jitter", duration_text(jitter));
}

std::string describe_level(const Parts& parts) {
  const LogConfig& log = parts.config.log;
  return fmt::format("{} to {}", level_names[static_cast<std::size_t>(log.level)],
                     log.file ? log.file->string() : "standard error");
}

std::string describe_denials(const Parts& parts) {
  const auto& denials = parts.config.log.denials;
  if (!denials) return "no denials";
  const Share sample = denials->sample;
  const std::string which =
      sample == Share{} ? "every denial" : fmt::format("{} of {} denials", sample.part, sample.whole);
  return fmt::format("{}, at most {} per second", which, denials->per_second);
}

std::string describe_urls(const Parts& parts) {
  std::vector<std::string> texts;
  for (const store::redis::Url& url : parts.config.store.redis->urls) texts.push_back(shown(url));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string describe_user(const Parts& parts) {
  const RedisConfig& redis = *parts.config.store.redis;
  const bool in_url = !redis.urls.front().password.empty() || !redis.urls.front().user.empty();
  return in_url || redis.user.empty() ? "" : "user " + redis.user;
}

std::string describe_redis_tls(const Parts& parts) {
  const RedisConfig& redis = *parts.config.store.redis;
  return !redis.with_tls() ? "" : redis.tls.certificate ? "TLS with a certificate" : "TLS";
}

std::string describe_charge_all(const Parts& parts) {
  const std::vector<std::string>& domains = parts.config.charge_all;
  return domains.empty() ? "" : fmt::format("denied calls charge all descriptors of {}", fmt::join(domains, ", "));
}

std::string describe_file(std::string_view what, const std::optional<std::filesystem::path>& file) {
  return file ? fmt::format("{} from {}", what, file->string()) : "";
}

std::string describe_receipt_keys(const Parts& parts) {
  const Config& config = parts.config;
  if (config.receipts.key_file) return describe_file("keys", config.receipts.key_file);
  if (config.store.redis) return "disabled: nodes that share a store need a common key in receipts.key_file";
  if (config.state.directory.empty()) return "temporary key: receipts will not survive a restart";
  return describe_file("key", config.state.directory / receipt_key_file);
}

// The fields in the order of --check. The columns are path, kind, help in the schema, and text for a line of --check.
std::vector<Field> make_fields() {  // NOLINT(readability-function-size): it is one table
  using namespace kinds;            // NOLINT(google-build-using-namespace): the table consists of kinds
  using P = const Parts&;
  constexpr auto whole_section = Restart::section;

  constexpr auto other_hosts = "Host names to accept, besides addresses and localhost.";
  constexpr auto share = R"("oneOf": [{ "type": "string", "pattern": "^[1-9][0-9]{0,6}/[1-9][0-9]{0,6}$" }, )"
                         R"({ "type": "number", "exclusiveMinimum": 0, "maximum": 1 }])";
  constexpr auto both_tls_files = R"("dependentRequired": { "certificate": ["key"], "key": ["certificate"] })";
  constexpr auto user_with_password = R"("dependentRequired": { "user": ["password_file"] })";
  const std::string a_word = reference("word");
  return {
      {"version", required(version(), "version: 1"), "Version of the file format."},
      {"policy", path(&Config::policy), "The policy file. If absent, the default policy.",
       [](P p) {
         return p.config.policy ? fmt::format("{} ({})", p.config.policy->string(), p.config.policy_origin) : "default";
       }},
      {"merge_domains", truth(&Config::merge_domains),
       "Whether several files of an envoyproxy/ratelimit directory may define one domain. Default: false.",
       [](P p) { return p.config.merge_domains ? "domains merged" : ""; }, "policy"},
      {"domains", domains(),
       "Settings of envoyproxy/ratelimit domains, by name. With denied: charge_all, a denied call charges all of its "
       "descriptors, as envoyproxy/ratelimit does. Default: charge_nothing, except for hits above one that do not fit.",
       [](P p) { return describe_charge_all(p); }, "policy"},

      {"doors", rejected("use listeners")},
      {"listeners", section(check_listeners),
       "Each listener is off or a map. A listener that is absent is on, with its defaults."},
      {"listeners.*", restarts(whole_section, listener()), "",
       [](P p) { return p.listener->config ? "" : fmt::format("off ({})", p.listener->origin); }},
      {"listeners.*.listen", restarts(whole_section, one_or_more(&ListenerConfig::listen, "address", take_address)),
       "One address or a list of them. A port alone is on 127.0.0.1.", describe_listen},
      {"listeners.*.unix_mode", restarts(whole_section, unix_mode()),
       "File mode of a unix socket, in quotes. Default: 0660.", describe_unix_mode},
      {"listeners.*.tls", restarts(whole_section, optional_section(&ListenerConfig::tls)),
       "PEM files. With client_ca, clients need a certificate that it signed.", describe_tls},
      {"listeners.*.tls.certificate", required(path(&net::TlsFiles::certificate_chain))},
      {"listeners.*.tls.key", required(path(&net::TlsFiles::key))},
      {"listeners.*.tls.client_ca", path(&net::TlsFiles::client_ca)},
      {"listeners.*.token_file", path(&ListenerConfig::token_file), "File with the token that clients must send.",
       [](P p) { return describe_file("token", p.listener->config->token_file); }},
      {"listeners.*.exposed", truth(&ListenerConfig::exposed),
       "Allow unauthenticated access from other hosts. Default: false.",
       [](P p) { return p.listener->config->exposed ? "exposed" : ""; }},
      {"listeners.*.max_connections",
       restarts(whole_section, whole(&ListenerConfig::max_connections, {.min = 1, .max = 1'000'000})),
       "Default: 10000.",
       [](P p) { return fmt::format("at most {} connections", p.listener->config->max_connections); }},
      {"listeners.http.hosts", one_or_more(&ListenerConfig::hosts, "host", take_host), other_hosts, describe_hosts},
      {"listeners.http.max_body",  // a change applies to new connections, which copy the value
       restarts(Restart::field, size(&ListenerConfig::max_body, {.min = kib, .max = 64 * mib})), "Default: 1MiB.",
       [](P p) { return "bodies up to " + size_text(p.listener->config->max_body, " "); }},
      {"listeners.http.max_delay", time(&ListenerConfig::max_delay, {.min = none, .max = minutes(10)}),
       "How long a queue may delay a response. Default: 5s.", describe_delay},
      {"listeners.http.hold_max", rejected("use max_delay")},
      {"listeners.http.max_delayed", whole(&ListenerConfig::max_delayed, {.min = 0, .max = 1'000'000}),
       "How many responses may be delayed at a time. Default: 1000."},
      {"listeners.http.hold_limit", rejected("use max_delayed")},
      {"listeners.http.auth_headers", choice(&ListenerConfig::auth_headers, auth_header_names),
       "Which headers of /v1/auth carry the request. Default: auto.", describe_auth_headers},
      {"listeners.rls.max_message", size(&ListenerConfig::max_message, {.min = kib, .max = 16 * mib}), "Default: 1MiB.",
       [](P p) { return "messages up to " + size_text(p.listener->config->max_message, " "); }},
      {"listeners.admin.hosts", one_or_more(&ListenerConfig::hosts, "host", take_host), other_hosts, describe_hosts},

      {"state", section(check_state)},
      {"state.directory", restarts(whole_section, path(&StateConfig::directory)),
       "Directory of the admin token and of snapshots.",
       [](P p) { return p.config.state.directory.empty() ? "no directory" : p.config.state.directory.string(); }},
      {"state.memory", restarts(whole_section, size(&StateConfig::memory, {.min = mib, .max = mib * mib})),
       "Memory for the states of all limits. Default: 256MiB.",
       [](P p) { return fmt::format("up to {} of memory", size_text(p.config.state.memory, " ")); }},
      {"state.snapshot", section_or_off(&StateConfig::snapshot_every, Duration(minutes(1))),
       "Default: off; every minute if directory is set.",
       [](P p) {
         const auto& every = p.config.state.snapshot_every;
         return every ? "snapshot every " + duration_text(*every) : "no snapshots";
       }},
      {"state.snapshot.every", time(&StateConfig::snapshot_every, {.min = seconds(1), .max = hours(24)}),
       "Default: 1min."},

      {"fields", section(), "Which rate limit headers responses carry."},
      {"fields.current", truth(&FieldChoice::rate_limit), "RateLimit and RateLimit-Policy. Default: true.",
       [](P p) { return p.config.fields.choice.rate_limit ? "RateLimit" : ""; }},
      {"fields.x_rate_limit", x_rate_limit(),
       "X-RateLimit-*, with its reset as seconds from now or since the epoch. Default: delta.", describe_x_rate_limit},
      {"fields.legacy", truth(&FieldChoice::legacy_fields), "RateLimit-Limit, -Remaining and -Reset. Default: false.",
       [](P p) { return p.config.fields.choice.legacy_fields ? "RateLimit-*" : ""; }},
      {"fields.older", rejected("use legacy")},
      {"fields.retry_jitter", time(&FieldsConfig::retry_jitter, {.min = none, .max = hours(1)}),
       "Maximum random time added to Retry-After. Default: 0s.", describe_retry},

      {"log", restarts(whole_section, section_of(&Config::log))},
      {"log.level", choice(&LogConfig::level, level_names), "Default: info.", describe_level},
      {"log.file", path(&LogConfig::file, "stderr"), "Default: stderr."},
      {"log.hash_key_file", path(&LogConfig::hash_key_file), "Key of the consumer hashes."},
      {"log.denials", section_or_off(&LogConfig::denials), "", describe_denials},
      {"log.denials.sample", text(&DenialLogConfig::sample, parse_sample, share),
       "Share of denials to log: 1/10 or 0.1. Default: 1."},
      {"log.denials.per_second", whole(&DenialLogConfig::per_second, {.min = 1, .max = 1'000'000}),
       "Maximum number of denials logged per second. Default: 100."},

      {"store", restarts(whole_section, store()), "Where states are stored. Default: local.",
       [](P p) { return p.config.store.redis ? "" : "local"; }},
      {"store.local", section(), "States are stored in this process."},
      {"store.redis", optional_section(&StoreConfig::redis, check_redis),
       "States are stored in Redis and shared by all nodes."},
      {"store.redis.urls", required(one_or_more(&RedisConfig::urls, "redis_url", take_url), redis_example),
       "One server, or several: seeds of a cluster or, with sentinel, the sentinels.", describe_urls},
      {"store.redis.sentinel", optional_section(&RedisConfig::sentinel, check_sentinel, user_with_password)},
      {"store.redis.sentinel.master", required(text(&SentinelConfig::master, parse_word, a_word), "master: mymaster"),
       "Name of the master at the sentinels.",
       [](P p) { return "sentinels for master " + p.config.store.redis->sentinel->master; }},
      {"store.redis.sentinel.user", text(&SentinelConfig::user, parse_word, a_word), "User at the sentinels."},
      {"store.redis.sentinel.password_file", path(&SentinelConfig::password_file), "Password file for the sentinels."},
      {"store.redis.user", text(&RedisConfig::user, parse_word, a_word), "ACL user. Default: Redis's default user.",
       describe_user},
      {"store.redis.password_file", path(&RedisConfig::password_file), "File with the password.",
       [](P p) { return describe_file("password", p.config.store.redis->password_file); }},
      {"store.redis.password", rejected("put it into a file and set password_file")},
      {"store.redis.tls", section(check_redis_tls, both_tls_files),
       "PEM files, for rediss:// URLs. Default: the system's authorities, no certificate.", describe_redis_tls},
      {"store.redis.tls.ca", path(&RedisTlsConfig::ca), "Authorities that sign the server's certificate.",
       [](P p) { return describe_file("authorities", p.config.store.redis->tls.ca); }},
      {"store.redis.tls.certificate", path(&RedisTlsConfig::certificate), "Client certificate of this node."},
      {"store.redis.tls.key", path(&RedisTlsConfig::key), "Its key."},
      {"store.redis.tls.server_name", text(&RedisTlsConfig::server_name, parse_word, a_word),
       "Name in the server's certificate. Default: the host of the URL.",
       [](P p) {
         const std::string& name = p.config.store.redis->tls.server_name;
         return name.empty() ? "" : "server name " + name;
       }},
      {"store.redis.prefix",
       text(&RedisConfig::prefix, parse_prefix, R"("type": "string", "pattern": "^[!-z|~]{1,64}$")"),
       "Prefix of every key. Default: weir:.",
       [](P p) { return fmt::format("keys {}*", p.config.store.redis->prefix); }},
      {"store.redis.key_secret_file", path(&RedisConfig::key_secret_file),
       "File with the secret that hashes consumers in keys. Default: keys are readable.",
       [](P p) { return p.config.store.redis->key_secret_file ? "hashed" : ""; }},
      {"store.redis.timeout", time(&RedisConfig::timeout, {.min = milliseconds(1), .max = seconds(10)}),
       "Timeout of a decision. Default: 10ms.",
       [](P p) { return "timeout " + duration_text(p.config.store.redis->timeout); }},
      {"store.redis.startup_timeout", time(&RedisConfig::startup_timeout, {.min = none, .max = minutes(1)}),
       "How long requests wait for Redis at startup before on_store_failure applies. Default: 3s.",
       [](P p) { return "startup timeout " + duration_text(p.config.store.redis->startup_timeout); }},
      {"store.redis.nodes", whole(&RedisConfig::nodes, {.min = 1, .max = policy::max_nodes}),
       "Maximum number of nodes. Limits are divided by it until nodes are counted. Default: 64.",
       [](P p) {
         const std::uint64_t nodes = p.config.store.redis->nodes;
         return nodes == policy::default_nodes ? "" : fmt::format("at most {} nodes", nodes);
       }},
      {"store.redis.max_new_keys", whole(&RedisConfig::max_new_keys, {.min = 0, .max = 1'000'000}),
       "Maximum number of new keys of each limit that this node sends per second. Consumers beyond it share keys. "
       "Default: 0, no bound.",
       [](P p) {
         const std::uint64_t max_keys = p.config.store.redis->max_new_keys;
         return max_keys == 0 ? "" : fmt::format("at most {} new keys per limit and second", max_keys);
       }},
      {"store.redis.node_name", text(&RedisConfig::node_name, parse_word, a_word),
       "Name of this node in the list of nodes. Default: the host name and a random part.",
       [](P p) {
         const std::string& name = p.config.store.redis->node_name;
         return name.empty() ? "" : "node " + name;
       }},

      {"receipts", section(), "Receipts of reservations and of concurrency limits."},
      {"receipts.key_file", path(&ReceiptsConfig::key_file),
       "Keys of receipts, one per line: 64 hexadecimal digits. The first encrypts, all decrypt. Default: one in the "
       "state "
       "directory; with a shared store, none.",
       describe_receipt_keys},

      {"loops", restarts(Restart::field, whole(&Config::loops, {.min = 1, .max = 1'024})),
       "Number of event loops. Default: one per core.",
       [](P p) { return p.config.loops ? std::to_string(*p.config.loops) : "one per core"; }},
      {"drain", time(&Config::drain, {.min = none, .max = hours(1)}),
       "How long requests in flight may take at shutdown. Default: 10s.",
       [](P p) { return duration_text(p.config.drain); }},
      {"grace", time(&Config::grace, {.min = none, .max = hours(1)}),
       "How long the listeners stay open after SIGTERM while the server reports not ready. Default: 0s.",
       [](P p) {
         return p.config.grace > none ? fmt::format("after a grace period of {}", duration_text(p.config.grace)) : "";
       },
       "drain"},
  };
}

// `listeners.*.tls` matches `listeners.http.tls`.
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

std::string_view FieldContext::name() const noexcept {
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
