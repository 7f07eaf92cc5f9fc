#include "server/config.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace weir::server {
namespace {

using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

const Environment nowhere;

Config loaded(std::string_view text, const Environment& environment = nowhere) {
  const LoadedConfig loaded = load_config_text(text, "/etc/weir/weir.yaml", environment);
  for (const text::Problem& problem : loaded.problems) ADD_FAILURE() << problem.text();
  return loaded.config.value_or(Config{});
}

Lines listens(const ListenerConfig& listener) {
  Lines texts;
  for (const net::Address& address : listener.listen) texts.push_back(address.text());
  return texts;
}

TEST(DefaultConfig, HasEveryListenerOnLoopback) {
  const Config config = default_config(nowhere);
  EXPECT_EQ(describe(config),
            (Lines{
                "policy: default",
                "http listener: 127.0.0.1:8080 (default), at most 10000 connections, bodies up to 1 MiB, "
                "up to 1000 responses delayed by up to 5 s",
                "rls listener: 127.0.0.1:8081 (default), at most 10000 connections, messages up to 1 MiB",
                "resp listener: 127.0.0.1:6390 (default), at most 10000 connections",
                "admin listener: 127.0.0.1:8089 (default), at most 10000 connections",
                "state: no directory, up to 256 MiB of memory, no snapshots",
                "fields: RateLimit, X-RateLimit-* (delta), Retry-After",
                "log: info to standard error, every denial, at most 100 per second",
                "store: local",
                "receipts: temporary key: receipts will not survive a restart",
                "loops: one per core",
                "drain: 10 s",
            }));
}

TEST(DefaultConfig, KeepsStateWhereTheEnvironmentSays) {
  struct Row {
    Environment environment;
    std::string directory;
  };
  const std::vector<Row> rows{
      {{"/var/lib/weir", "/home/ann/state", "/home/ann"}, "/var/lib/weir"},
      {{"/var/lib/weir:/var/lib/other", "", ""}, "/var/lib/weir"},
      {{"", "/home/ann/state", "/home/ann"}, "/home/ann/state/weir"},
      {{"", "", "/home/ann"}, "/home/ann/.local/state/weir"},
      {{"", "relative", "/home/ann"}, "/home/ann/.local/state/weir"},
      {{"relative", "", "/home/ann"}, "/home/ann/.local/state/weir"},
      {{"", "", "relative"}, ""},
      {{"", "", ""}, ""},
  };
  for (const Row& row : rows) EXPECT_EQ(default_config(row.environment).state.directory, row.directory);
}

TEST(LoadedConfig, IsTheDefaultWhereTheFileSaysNothing) {
  const Environment environment{"/var/lib/weir", "", ""};
  EXPECT_EQ(describe(loaded("version: 1", environment)), describe(default_config(environment)));
}

TEST(LoadedConfig, HasAllThatTheFileSays) {
  const auto path = std::filesystem::path(WEIR_SOURCE_DIR) / "tests/server/config_valid/full.yaml";
  const std::filesystem::path folder = path.parent_path();
  const auto config = load_config(path, {"/elsewhere", "", ""}).config;
  ASSERT_TRUE(config.has_value());
  EXPECT_EQ(config->policy, folder / "policies/live.yaml");
  EXPECT_TRUE(config->merge_domains);
  EXPECT_EQ(config->charge_all, Lines{"shop"});

  ASSERT_NE(config->listener("http"), nullptr);
  const ListenerConfig& http = *config->listener("http");
  EXPECT_EQ(listens(http), (Lines{"0.0.0.0:443", "[::1]:8443"}));
  EXPECT_EQ(http.tls.value().certificate_chain, folder / "tls/weir.crt");
  EXPECT_EQ(http.tls->key, folder / "tls/weir.key");
  EXPECT_EQ(http.tls->client_ca, "/etc/ssl/clients.crt");
  EXPECT_EQ(http.token_file, folder / "secrets/http.token");
  EXPECT_TRUE(http.exposed);
  EXPECT_EQ(http.max_connections, 20'000U);
  EXPECT_EQ(http.hosts, (Lines{"limits.example.com", "limits"}));
  EXPECT_EQ(http.max_delay, 2s);
  EXPECT_EQ(http.max_delayed, 50U);
  EXPECT_EQ(http.auth_headers, AuthHeaders::forwarded);
  EXPECT_EQ(http.max_body, std::size_t{256} << 10);

  ASSERT_NE(config->listener("rls"), nullptr);
  const ListenerConfig& rls = *config->listener("rls");
  EXPECT_EQ(listens(rls), Lines{"unix:/run/weir/rls.sock"});
  EXPECT_EQ(rls.unix_mode, mode_t{0600});
  EXPECT_EQ(rls.max_message, std::size_t{1} << 20);
  EXPECT_EQ(config->listener("resp"), nullptr);
  ASSERT_NE(config->listener("admin"), nullptr);
  EXPECT_EQ(config->listener("admin")->token_file, "/etc/weir/admin.token");
  EXPECT_EQ(config->listener("admin")->hosts, Lines{"*"});

  EXPECT_EQ(config->state.directory, "/var/lib/weir");
  EXPECT_EQ(config->state.memory, std::size_t{2} << 30);
  EXPECT_EQ(config->state.snapshot_every, 30s);
  EXPECT_FALSE(config->fields.choice.rate_limit);
  EXPECT_TRUE(config->fields.choice.x_rate_limit);
  EXPECT_TRUE(config->fields.choice.x_reset_as_epoch);
  EXPECT_TRUE(config->fields.choice.legacy_fields);
  EXPECT_EQ(config->fields.retry_jitter, 1500ms);
  EXPECT_EQ(config->log.level, LogLevel::warning);
  EXPECT_EQ(config->log.denials.value().sample, (Share{1, 10}));
  EXPECT_EQ(config->log.denials->per_second, 5U);
  EXPECT_EQ(config->log.file, "/var/log/weir.log");
  EXPECT_EQ(config->log.hash_key_file, folder / "log.key");
  const RedisConfig& redis = config->store.redis.value();
  ASSERT_EQ(redis.urls.size(), 2U);
  EXPECT_EQ(redis.urls[0].endpoint, (net::Endpoint{.host = "sentinel-1", .port = 26379, .path = ""}));
  EXPECT_EQ(redis.urls[1].endpoint, (net::Endpoint{.host = "sentinel-2", .port = 26379, .path = ""}));
  EXPECT_EQ(redis.urls[0].database, 2);
  EXPECT_TRUE(redis.with_tls());
  EXPECT_EQ(redis.sentinel, (SentinelConfig{"mymaster", "watcher", folder / "secrets/sentinel.password"}));
  EXPECT_EQ(redis.user, "weir");
  EXPECT_EQ(redis.password_file, "/etc/weir/redis.password");
  EXPECT_EQ(redis.tls, (RedisTlsConfig{folder / "tls/redis-ca.crt", folder / "tls/weir.crt", folder / "tls/weir.key",
                                       "redis.internal"}));
  EXPECT_EQ(redis.prefix, "staging:weir:");
  EXPECT_EQ(redis.key_secret_file, folder / "secrets/keys.secret");
  EXPECT_EQ(redis.timeout, 25ms);
  EXPECT_EQ(redis.startup_timeout, 5s);
  EXPECT_EQ(redis.nodes, 12U);
  EXPECT_EQ(redis.max_new_keys, 1000U);
  EXPECT_EQ(redis.node_name, "web-1");
  EXPECT_EQ(config->receipts.key_file, folder / "secrets/receipts.keys");
  EXPECT_EQ(config->loops, 3U);
  EXPECT_EQ(config->grace, 5s);
  EXPECT_EQ(config->drain, 1min);
}

TEST(LoadedConfig, IsDescribedByWhatDiffersFromPlain) {
  const auto config = load_config_text(R"(
version: 1
policy: live.yaml
listeners:
  http:
    listen: [127.0.0.1:443, "[::1]:443"]
    tls: { certificate: a.crt, key: a.key, client_ca: ca.crt }
    token_file: http.token
    hosts: [limits.example.com, limits]
    max_delay: 0s
    auth_headers: path
  rls: { listen: unix:/run/weir.sock }
  resp: off
  admin: { listen: 0.0.0.0:9000, exposed: true, max_connections: 9 }
state: { directory: state }
fields: { current: false, x_rate_limit: off, legacy: true, retry_jitter: 2s }
log: { denials: { sample: 0.25 }, file: weir.log }
loops: 2
grace: 1500ms
)",
                                       "/etc/weir/weir.yaml", nowhere)
                          .config;
  ASSERT_TRUE(config.has_value());
  EXPECT_EQ(
      describe(*config),
      (Lines{
          "policy: /etc/weir/live.yaml (/etc/weir/weir.yaml)",
          "http listener: 127.0.0.1:443, [::1]:443 (/etc/weir/weir.yaml), TLS with client certificates, token from "
          "/etc/weir/http.token, at most 10000 connections, hosts limits.example.com limits, bodies up to 1 MiB, "
          "no delayed responses, auth_headers path",
          "rls listener: unix:/run/weir.sock (/etc/weir/weir.yaml), mode 0660, at most 10000 connections, messages "
          "up to 1 MiB",
          "resp listener: off (/etc/weir/weir.yaml)",
          "admin listener: 0.0.0.0:9000 (/etc/weir/weir.yaml), exposed, at most 9 connections",
          "state: /etc/weir/state, up to 256 MiB of memory, snapshot every 1 min",
          "fields: RateLimit-*, Retry-After with up to 2 s of jitter",
          "log: info to /etc/weir/weir.log, 1 of 4 denials, at most 100 per second",
          "store: local",
          "receipts: key from /etc/weir/state/receipts.key",
          "loops: 2",
          "drain: 10 s, after a grace period of 1500 ms",
      }));
}

TEST(Store, IsDescribedWithoutItsPassword) {
  struct Row {
    std::string store;
    std::string said;
  };
  const std::vector<Row> rows{
      {"local", "local"},
      {"{ local: {} }", "local"},
      {"{ redis: { urls: redis://redis.example } }",
       "redis://redis.example:6379/0, keys weir:*, timeout 10 ms, startup timeout 3 s"},
      {"{ redis: { urls: 'redis://weir:secret@[::1]:6380/2' } }",
       "redis://weir:*****@[::1]:6380/2, keys weir:*, timeout 10 ms, startup timeout 3 s"},
      {"{ redis: { urls: 'redis://:secret@a' } }",
       "redis://:*****@a:6379/0, keys weir:*, timeout 10 ms, startup timeout 3 s"},
      {"{ redis: { urls: unix:///run/redis.sock, timeout: 1s, prefix: 'a:', nodes: 8, node_name: b } }",
       "unix:///run/redis.sock?db=0, keys a:*, timeout 1 s, startup timeout 3 s, at most 8 nodes, "
       "node b"},
      {"{ redis: { urls: [redis://a, redis://b], user: weir, password_file: p, key_secret_file: k } }",
       "redis://a:6379/0, redis://b:6379/0, user weir, password from /etc/weir/p, keys weir:*, hashed, timeout 10 ms, "
       "startup timeout 3 s"},
      {"{ redis: { urls: rediss://a, sentinel: { master: mymaster }, tls: { ca: c } } }",
       "rediss://a:6379/0, sentinels for master mymaster, TLS, authorities from /etc/weir/c, keys weir:*, timeout 10 "
       "ms, startup timeout 3 s"},
      {"{ redis: { urls: rediss://a, tls: { certificate: c, key: k, server_name: b } } }",
       "rediss://a:6379/0, TLS with a certificate, server name b, keys weir:*, timeout 10 ms, startup timeout 3 s"},
  };
  for (const Row& row : rows)
    EXPECT_EQ(describe(loaded("version: 1\nstore: " + row.store)).at(8), "store: " + row.said);
}

TEST(Receipts, SayWhichKeySealsThem) {
  struct Row {
    std::string config;
    std::string said;
  };
  const std::vector<Row> rows{
      {"", "temporary key: receipts will not survive a restart"},
      {"state: { directory: /var/lib/weir }", "key from /var/lib/weir/receipts.key"},
      {"receipts: { key_file: keys }", "keys from /etc/weir/keys"},
      {"receipts: { key_file: keys }\nstore: { redis: { urls: redis://a } }", "keys from /etc/weir/keys"},
      {"store: { redis: { urls: redis://a } }",
       "disabled: nodes that share a store need a common key in receipts.key_file"},
  };
  for (const Row& row : rows) EXPECT_EQ(describe(loaded("version: 1\n" + row.config)).at(9), "receipts: " + row.said);
}

TEST(Snapshots, AreOnWhereTheFileSaysWhereStateBelongs) {
  struct Row {
    std::string state;
    std::optional<Duration> every;
  };
  const std::vector<Row> rows{
      {"{}", {}},
      {"{ memory: 1GiB }", {}},
      {"{ directory: /var/lib/weir }", 1min},
      {"{ directory: /var/lib/weir, snapshot: off }", {}},
      {"{ directory: /var/lib/weir, snapshot: {} }", 1min},
      {"{ snapshot: {} }", 1min},
      {"{ snapshot: { every: 5s } }", 5s},
      {"{ snapshot: off }", {}},
  };
  for (const Row& row : rows) {
    const Environment at_home{.state_directory = {}, .xdg_state_home = {}, .home = "/home/weir"};
    EXPECT_EQ(loaded("version: 1\nstate: " + row.state, at_home).state.snapshot_every, row.every) << row.state;
  }
}

TEST(LogFile, IsStandardErrorByItsName) {
  EXPECT_EQ(loaded("version: 1\nlog: { file: stderr }").log.file, std::nullopt);
  EXPECT_EQ(loaded("version: 1\nlog: { file: ./stderr }").log.file, "/etc/weir/stderr");
}

TEST(Token, WithoutTlsBeyondLoopbackIsWarnedOf) {
  const LoadedConfig loaded = load_config_text(
      "version: 1\nlisteners: { resp: { listen: [127.0.0.1:1, 10.0.0.1:1], token_file: t } }", "weir.yaml", nowhere);
  EXPECT_TRUE(loaded.config.has_value());
  ASSERT_EQ(loaded.problems.size(), 1U);
  EXPECT_EQ(loaded.problems[0].severity, text::Severity::warning);
  EXPECT_EQ(loaded.problems[0].text(), "weir.yaml:2:44: listen '10.0.0.1:1': the token is sent in clear text; add tls");
}

TEST(ConfigFile, ThatCannotBeReadIsSaid) {
  struct Row {
    std::string path;
    std::string said;
  };
  const std::vector<Row> rows{
      {"/nowhere/weir.yaml", "/nowhere/weir.yaml:1:1: cannot be read: No such file or directory"},
      {"/", "/:1:1: cannot be read: Is a directory"},
      {"/dev/null", "/dev/null:1:1: the file is empty"},
  };
  for (const Row& row : rows) {
    const LoadedConfig loaded = load_config(row.path, nowhere);
    EXPECT_FALSE(loaded.config.has_value());
    ASSERT_EQ(loaded.problems.size(), 1U);
    EXPECT_EQ(loaded.problems[0].text(), row.said);
  }
}

TEST(LoadedConfig, ListensOnEveryAddressWhereOnlyAPortIsWritten) {
  const Config config = loaded("version: 1\nlisteners: { http: { listen: \":8080\", exposed: true } }\n");
  EXPECT_EQ(listens(*config.listener("http")), Lines{"[::]:8080"});
  const auto refused =
      load_config_text("version: 1\nlisteners: { http: { listen: \":8080\" } }\n", "weir.yaml", nowhere);
  ASSERT_EQ(refused.problems.size(), 1U);
  EXPECT_NE(refused.problems[0].message.find("reachable from other hosts"), std::string::npos);
}

TEST(LoadedConfig, ThatIsAPolicyIsToldWhereThatBelongs) {
  for (const std::string_view text : {"version: 1\nlimits: []\n", "openapi: 3.1.0\npaths: {}\n", "domain: edge\n"}) {
    const auto refused = load_config_text(text, "policy.yaml", nowhere);
    ASSERT_EQ(refused.problems.size(), 1U) << text;
    EXPECT_EQ(refused.problems[0].text(), "policy.yaml:1:1: this is a policy, not weir.yaml; use --policy policy.yaml");
  }
}

TEST(LoadedConfig, SaysWhereEachListenerWasPlaced) {
  const Config config =
      loaded("version: 1\npolicy: p.yaml\nlisteners: { http: { listen: \"127.0.0.1:1\" }, rls: off }\n");
  const auto lines = describe(config);
  EXPECT_EQ(lines[0], "policy: /etc/weir/p.yaml (/etc/weir/weir.yaml)");
  EXPECT_TRUE(lines[1].starts_with("http listener: 127.0.0.1:1 (/etc/weir/weir.yaml), ")) << lines[1];
  EXPECT_EQ(lines[2], "rls listener: off (/etc/weir/weir.yaml)");
  EXPECT_TRUE(lines[3].starts_with("resp listener: 127.0.0.1:6390 (default), ")) << lines[3];
}

}  // namespace
}  // namespace weir::server
