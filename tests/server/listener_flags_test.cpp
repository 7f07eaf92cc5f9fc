// Listener flags override weir.yaml.
#include "server/listeners.h"

#include <gtest/gtest.h>

#include <string>

namespace weir::server {
namespace {

std::string refusal(const ListenerFlags& flags, Config config = default_config({})) {
  const auto applied = apply(flags, config);
  return applied ? "" : applied.error().message();
}

TEST(ListenerFlags, PlaceAListenerAndLeaveTheOthers) {
  Config config = default_config({});
  config.listener("http")->max_connections = 7;
  ASSERT_TRUE(
      apply({.listen = {{"http", "127.0.0.1:9000"}, {"rls", "off"}, {"resp", "unix:/run/weir/resp.sock"}}}, config));
  EXPECT_EQ(config.listener("http")->listen.at(0).text(), "127.0.0.1:9000");
  EXPECT_EQ(config.listener("http")->max_connections, 7U) << "as weir.yaml has it";
  EXPECT_EQ(config.listener("rls"), nullptr);
  EXPECT_EQ(config.listener("resp")->listen.at(0).text(), "unix:/run/weir/resp.sock");
  EXPECT_EQ(config.listener("admin")->listen.at(0).text(), "127.0.0.1:8089");
  EXPECT_EQ(config.listeners.at(0).origin, "--http");
  EXPECT_EQ(config.listeners.at(1).origin, "--rls");
  EXPECT_EQ(config.listeners.at(3).origin, "default");
}

TEST(ListenerFlags, APortAloneIsOnLoopback) {
  Config config = default_config({});
  ASSERT_TRUE(apply({.listen = {{"http", "9000"}}}, config));
  EXPECT_EQ(config.listener("http")->listen.at(0).text(), "127.0.0.1:9000");
}

TEST(ListenerFlags, OpenAListenerThatTheFileHasOff) {
  Config config = default_config({});
  for (Listener& listener : config.listeners) {
    if (listener.name == "admin") listener.config.reset();
  }
  ASSERT_TRUE(apply({.listen = {{"admin", "127.0.0.1:9"}}}, config));
  EXPECT_EQ(config.listener("admin")->listen.at(0).text(), "127.0.0.1:9");
}

TEST(ListenerFlags, ListenerThatOthersCanReachNeedsAGuardOrThatItIsMeant) {
  EXPECT_EQ(refusal({.listen = {{"http", "0.0.0.0:80"}}}),
            "--http: 0.0.0.0:80: this address is reachable from other hosts; add --exposed to allow unauthenticated "
            "access, or set a token_file or client certificates in weir.yaml");
  EXPECT_EQ(refusal({.listen = {{"http", "0.0.0.0:80"}}, .exposed = true}), "");
  Config guarded = default_config({});
  guarded.listener("http")->token_file = "token";
  EXPECT_EQ(refusal({.listen = {{"http", "0.0.0.0:80"}}}, guarded), "");
  Config exposed = default_config({});
  ASSERT_TRUE(apply({.listen = {{"http", "0.0.0.0:80"}}, .exposed = true}, exposed));
  EXPECT_TRUE(exposed.listener("http")->exposed);
  EXPECT_FALSE(exposed.listener("rls")->exposed) << "only what is placed by a flag";
}

TEST(ListenerFlags, MistakesNameTheFlag) {
  EXPECT_TRUE(refusal({.listen = {{"rls", "127.0.0.1"}}}).starts_with("--rls: '127.0.0.1': missing port"));
  EXPECT_TRUE(refusal({.listen = {{"resp", "example.com:1"}}}).starts_with("--resp: 'example.com:1': "));
  EXPECT_EQ(
      refusal({.listen = {{"http", "127.0.0.1:8081"}}}),
      "--http: 127.0.0.1:8081: the rls listener already uses 127.0.0.1:8081; choose another address, or --rls off");
  EXPECT_EQ(refusal({.listen = {{"http", "off"}, {"rls", "off"}, {"resp", "off"}, {"admin", "off"}}}),
            "--http, --rls, --resp, --admin: every listener is off; enable at least one");
  Config secured = default_config({});
  secured.listener("http")->tls = net::TlsFiles{"a", "b", ""};
  EXPECT_EQ(
      refusal({.listen = {{"http", "unix:/run/h"}}}, secured),
      "--http: unix:/run/h: TLS is not available on a unix socket, and weir.yaml sets a certificate for this listener");
}

}  // namespace
}  // namespace weir::server
