// The doors by flags, before weir.yaml.
#include "server/door_flags.h"

#include <gtest/gtest.h>

#include <string>

namespace weir::server {
namespace {

std::string refusal(const DoorFlags& flags, Config config = default_config({})) {
  const auto applied = apply(flags, config);
  return applied ? "" : applied.error().message();
}

TEST(DoorFlags, PlaceADoorAndLeaveTheOthers) {
  Config config = default_config({});
  config.doors.http->max_connections = 7;
  ASSERT_TRUE(apply({.http = "127.0.0.1:9000", .rls = "off", .resp = "unix:/run/weir/resp.sock"}, config));
  EXPECT_EQ(config.doors.http->listen.at(0).text(), "127.0.0.1:9000");
  EXPECT_EQ(config.doors.http->max_connections, 7U) << "as weir.yaml has it";
  EXPECT_FALSE(config.doors.rls);
  EXPECT_EQ(config.doors.resp->listen.at(0).text(), "unix:/run/weir/resp.sock");
  EXPECT_EQ(config.doors.admin->listen.at(0).text(), "127.0.0.1:8089");
  EXPECT_EQ(config.origins.http, "--http");
  EXPECT_EQ(config.origins.rls, "--rls");
  EXPECT_EQ(config.origins.admin, "default");
}

TEST(DoorFlags, OpenADoorThatTheFileHasOff) {
  Config config = default_config({});
  config.doors.admin.reset();
  ASSERT_TRUE(apply({.admin = "127.0.0.1:9"}, config));
  EXPECT_EQ(config.doors.admin->listen.at(0).text(), "127.0.0.1:9");
}

TEST(DoorFlags, DoorThatOthersCanReachNeedsAGuardOrThatItIsMeant) {
  EXPECT_EQ(refusal({.http = "0.0.0.0:80"}),
            "--http: 0.0.0.0:80: others can reach this address: add --exposed if that is meant, or give the door a "
            "token_file or client certificates in weir.yaml");
  EXPECT_EQ(refusal({.http = "0.0.0.0:80", .exposed = true}), "");
  Config guarded = default_config({});
  guarded.doors.http->token_file = "token";
  EXPECT_EQ(refusal({.http = "0.0.0.0:80"}, guarded), "");
  Config exposed = default_config({});
  ASSERT_TRUE(apply({.http = "0.0.0.0:80", .exposed = true}, exposed));
  EXPECT_TRUE(exposed.doors.http->exposed);
  EXPECT_FALSE(exposed.doors.rls->exposed) << "only what is placed by a flag";
}

TEST(DoorFlags, MistakesNameTheFlag) {
  EXPECT_TRUE(refusal({.rls = "8081"}).starts_with("--rls: '8081': has no port"));
  EXPECT_TRUE(refusal({.resp = "example.com:1"}).starts_with("--resp: 'example.com:1': "));
  EXPECT_EQ(refusal({.http = "127.0.0.1:8081"}),
            "--http: 127.0.0.1:8081: the rls door has 127.0.0.1:8081: choose another address, or --rls off");
  EXPECT_EQ(refusal({.http = "off", .rls = "off", .resp = "off", .admin = "off"}),
            "--http, --rls, --resp, --admin: every door is off: nobody could ask");
  Config secured = default_config({});
  secured.doors.http->tls = net::TlsFiles{"a", "b", ""};
  EXPECT_EQ(refusal({.http = "unix:/run/h"}, secured),
            "--http: unix:/run/h: a unix socket has no TLS, and weir.yaml gives this door a certificate");
}

}  // namespace
}  // namespace weir::server
