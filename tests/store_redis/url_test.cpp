// URLs of Redis servers.
#include "store/redis/url.h"

#include <gtest/gtest.h>

namespace weir::store::redis {
namespace {

TEST(Url, IsRead) {
  const struct {
    std::string text;
    Url url;
  } rows[] = {
      {"redis://127.0.0.1", {{"127.0.0.1", 6379, ""}, false, "", "", 0}},
      {"redis://127.0.0.1:6380", {{"127.0.0.1", 6380, ""}, false, "", "", 0}},
      {"redis://redis.example/", {{"redis.example", 6379, ""}, false, "", "", 0}},
      {"redis://redis.example/15", {{"redis.example", 6379, ""}, false, "", "", 15}},
      {"rediss://redis.example:6380/2", {{"redis.example", 6380, ""}, true, "", "", 2}},
      {"redis://[::1]", {{"::1", 6379, ""}, false, "", "", 0}},
      {"redis://[2001:db8::1]:6380/1", {{"2001:db8::1", 6380, ""}, false, "", "", 1}},
      {"redis://[::ffff:10.0.0.1]", {{"::ffff:10.0.0.1", 6379, ""}, false, "", "", 0}},
      {"redis://:secret@h", {{"h", 6379, ""}, false, "", "secret", 0}},
      {"redis://weir:secret@h:1/0", {{"h", 1, ""}, false, "weir", "secret", 0}},
      {"redis://we%3Air:p%40s%2fs%25@h", {{"h", 6379, ""}, false, "we:ir", "p@s/s%", 0}},
      {"redis://weir:a:b@h", {{"h", 6379, ""}, false, "weir", "a:b", 0}},
      {"redis://weir:a@b@h", {{"h", 6379, ""}, false, "weir", "a@b", 0}},
      {"unix:///run/redis.sock", {{"", 0, "/run/redis.sock"}, false, "", "", 0}},
      {"unix:///run/redis.sock?db=3", {{"", 0, "/run/redis.sock"}, false, "", "", 3}},
      {"unix:///run/my%20redis", {{"", 0, "/run/my redis"}, false, "", "", 0}},
      {"unix://weir:secret@/run/redis.sock", {{"", 0, "/run/redis.sock"}, false, "weir", "secret", 0}},
  };
  for (const auto& row : rows) {
    const auto url = parse_url(row.text);
    ASSERT_TRUE(url.has_value()) << url.error().message();
    EXPECT_EQ(*url, row.url) << row.text;
  }
}

TEST(Url, MistakesAreExplained) {
  const std::string forms =
      "; write redis://HOST:6379/0, rediss://HOST:6379/0 (with TLS) or unix:///run/redis.sock?db=0";
  const struct {
    std::string text;
    std::string what;
  } rows[] = {
      {"", "must start with redis://, rediss:// or unix://"},
      {"127.0.0.1:6379", "must start with redis://, rediss:// or unix://"},
      {"http://h", "must start with redis://, rediss:// or unix://"},
      {"REDIS://h", "must start with redis://, rediss:// or unix://"},
      {"redis:h", "must start with redis://, rediss:// or unix://"},
      {"redis://", "has no host"},
      {"redis://:6379", "has no host"},
      {"redis:///0", "has no host"},
      {"redis://[]", "has no host"},
      {"redis://[::1", "has a [ without a ]"},
      {"redis://[h]", "has an invalid host: must be a name or an IP address"},
      {"redis://[fe80::1%eth0]", "has an invalid host: must be a name or an IP address"},
      {"redis://my host", "has an invalid host: must be a name or an IP address"},
      {"redis://h%41", "has an invalid host: must be a name or an IP address"},
      {"redis://::1", "has no host"},
      {"redis://2001:db8::1", "has several colons: write an IPv6 address in [ ]"},
      {"redis://h:", "has an invalid port: must be 1 to 65535"},
      {"redis://h:0", "has an invalid port: must be 1 to 65535"},
      {"redis://h:65536", "has an invalid port: must be 1 to 65535"},
      {"redis://h:x", "has an invalid port: must be 1 to 65535"},
      {"redis://h:-1", "has an invalid port: must be 1 to 65535"},
      {"redis://[::1]6379", "has an invalid port: must be 1 to 65535"},
      {"redis://h/x", "has an invalid database: must be 0 to 65535"},
      {"redis://h/-1", "has an invalid database: must be 0 to 65535"},
      {"redis://h/65536", "has an invalid database: must be 0 to 65535"},
      {"redis://h/0/", "has an invalid database: must be 0 to 65535"},
      {"redis://h/0?timeout=1", "has a ? or #; options are set next to `urls`, not in them"},
      {"redis://h#x", "has a ? or #; options are set next to `urls`, not in them"},
      {"unix://", "has no absolute path: write three slashes"},
      {"unix:///", "has no absolute path: write three slashes"},
      {"unix://run/redis.sock", "has no absolute path: write three slashes"},
      {"unix:///run/a%2", "has an invalid percent-encoding in its path"},
      {"unix:///run/a%00", "has an invalid percent-encoding in its path"},
      {"unix:///" + std::string(107, 'x'), "has a path of more than 107 bytes: choose a shorter one"},
      {"unix:///run/redis.sock?database=1", "has an unknown parameter: only ?db= is supported"},
      {"unix:///run/redis.sock?db=", "has an invalid database: must be 0 to 65535"},
  };
  for (const auto& row : rows) {
    const auto url = parse_url(row.text);
    ASSERT_FALSE(url.has_value()) << row.text;
    EXPECT_EQ(url.error().message(), row.text + ": " + row.what + forms);
  }
}

TEST(Url, MistakesNeverShowThePassword) {
  for (const std::string_view text :
       {"redis://weir:secret@", "redis://:secret@h:x", "http://weir:secret@h", "weir:secret@h",
        "redis://weir:sec/ret@h", "redis://weir:secret%@h", "unix://weir:secret@run", "redis://:secret@:1",
        "redis://secret@h", "://:secret@h"}) {
    const auto url = parse_url(text);
    ASSERT_FALSE(url.has_value()) << text;
    EXPECT_EQ(url.error().message().find("sec"), std::string::npos) << url.error().message();
  }
}

}  // namespace
}  // namespace weir::store::redis
