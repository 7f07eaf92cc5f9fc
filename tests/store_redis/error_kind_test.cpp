// What servers mean by their errors.
#include "store/redis/error_kind.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace weir::store::redis {
namespace {

TEST(ErrorKind, IsToldByTheFirstWord) {
  const struct {
    std::string_view error;
    ErrorKind kind;
  } rows[] = {
      {"MOVED 3999 127.0.0.1:6381", ErrorKind::moved},
      {"ASK 3999 127.0.0.1:6381", ErrorKind::ask},
      {"TRYAGAIN Multiple keys request during rehashing of slot", ErrorKind::try_again},
      {"CLUSTERDOWN The cluster is down", ErrorKind::cluster_down},
      {"NOSCRIPT No matching script. Please use EVAL.", ErrorKind::no_script},
      {"READONLY You can't write against a read only replica.", ErrorKind::read_only},
      {"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", ErrorKind::master_down},
      {"LOADING Redis is loading the dataset in memory", ErrorKind::loading},
      {"BUSY Redis is busy running a script.", ErrorKind::busy},
      {"CROSSSLOT Keys in request don't hash to the same slot", ErrorKind::cross_slot},
      {"OOM command not allowed when used memory > 'maxmemory'.", ErrorKind::out_of_memory},
      {"NOREPLICAS Not enough good replicas to write.", ErrorKind::no_replicas},
      {"MISCONF Redis is configured to save RDB snapshots", ErrorKind::misconfigured},
      {"WRONGTYPE Operation against a key holding the wrong kind of value", ErrorKind::wrong_type},
      {"FOREIGN the value of weir:{api:...}:gcra is not a state of weir: remove it", ErrorKind::foreign},
      {"NOAUTH Authentication required.", ErrorKind::no_auth},
      {"WRONGPASS invalid username-password pair or user is disabled.", ErrorKind::wrong_pass},
      {"NOPERM User weir has no permissions to run the 'ping' command", ErrorKind::no_permission},
      {"DENIED Redis is running in protected mode", ErrorKind::denied},
      {"OOM", ErrorKind::out_of_memory},
      {"ERR unknown command", ErrorKind::other},
      {"OOMPH", ErrorKind::other},
      {" OOM", ErrorKind::other},
      {"oom", ErrorKind::other},
      {"", ErrorKind::other},
  };
  for (const auto& row : rows) EXPECT_EQ(error_kind(row.error), row.kind) << row.error;
}

TEST(ErrorKind, IsToldByWhatAnOldServerWrapsIntoAnErrorOfTheScript) {
  const std::string_view script = "ERR Error running script (call to f_0a1b2c): @user_script:50: ";
  const struct {
    std::string_view error;
    ErrorKind kind;
  } rows[] = {
      {"@user_script: 50: -READONLY You can't write against a read only replica.", ErrorKind::read_only},
      {"@user_script: 50: -OOM command not allowed when used memory > 'maxmemory'.", ErrorKind::out_of_memory},
      {"@user_script: 50: -MISCONF Errors writing to the AOF file: No space left on device", ErrorKind::misconfigured},
      {"-NOREPLICAS Not enough good replicas to write.", ErrorKind::no_replicas},
      {"WRONGTYPE Operation against a key holding the wrong kind of value", ErrorKind::wrong_type},
      {"@user_script: 50: Unknown Redis command called from Lua script", ErrorKind::other},
      {"@user_script: 50: -OOMPH", ErrorKind::other},
      {"attempt to index a nil value", ErrorKind::other},
      {"", ErrorKind::other},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(error_kind(std::string(script) + std::string(row.error)), row.kind) << row.error;
  }
  EXPECT_EQ(error_kind("ERR Error running script: -READONLY"), ErrorKind::read_only);
  EXPECT_EQ(error_kind("ERR Error running script"), ErrorKind::other);
  EXPECT_EQ(error_kind("ERR of another kind: -READONLY"), ErrorKind::other);
}

const net::Endpoint asked{"10.0.0.9", 6379, ""};

TEST(Redirect, SaysWhereto) {
  const struct {
    std::string_view error;
    Redirect redirect;
  } rows[] = {
      {"MOVED 3999 127.0.0.1:6381", {ErrorKind::moved, 3999, {"127.0.0.1", 6381, ""}}},
      {"ASK 0 redis.example:1", {ErrorKind::ask, 0, {"redis.example", 1, ""}}},
      {"MOVED 16383 2001:db8::1:65535", {ErrorKind::moved, 16383, {"2001:db8::1", 65535, ""}}},
      {"MOVED 1 :7001", {ErrorKind::moved, 1, {"10.0.0.9", 7001, ""}}},
      {"MOVED 1 10.0.0.1:7001 and more", {ErrorKind::moved, 1, {"10.0.0.1", 7001, ""}}},
  };
  for (const auto& row : rows) EXPECT_EQ(parse_redirect(row.error, asked), row.redirect) << row.error;
}

TEST(Redirect, IsNoneWhereItDoesNotSayWhereto) {
  for (const std::string_view error :
       {"ERR MOVED 1 10.0.0.1:7001", "MOVED", "MOVED 1", "MOVED 1 ", "MOVED x 10.0.0.1:7001", "MOVED -1 10.0.0.1:7001",
        "MOVED 16384 10.0.0.1:7001", "MOVED 1 10.0.0.1", "MOVED 1 10.0.0.1:", "MOVED 1 10.0.0.1:0",
        "MOVED 1 10.0.0.1:65536", "MOVED 1 10.0.0.1:07", "MOVED 1 ?:7001", "TRYAGAIN 1 10.0.0.1:7001"}) {
    EXPECT_FALSE(parse_redirect(error, asked).has_value()) << error;
  }
  EXPECT_FALSE(parse_redirect("MOVED 1 :7001", {"", 0, "/run/redis.sock"}).has_value());
}

}  // namespace
}  // namespace weir::store::redis
