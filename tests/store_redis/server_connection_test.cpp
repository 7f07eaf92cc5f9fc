// One connection to a real Redis server: authentication, replies, and how it ends.
#include "store/redis/server_connection.h"

#include <chrono>

#include "tests/net/server.h"
#include "tests/redis_process.h"
#include "tests/store_redis/server_visitor.h"

namespace weir::store::redis {
namespace {

using namespace std::chrono_literals;
ServerConnection::Options leading_to(const RedisProcess& server) {
  ServerConnection::Options options;
  options.endpoint.path = server.socket_path();
  return options;
}

std::string where(const RedisProcess& server) {
  return "unix:" + server.socket_path() + ": ";
}

TEST(ServerConnection, CommandsAreAnsweredInTheirOrder) {
  const RedisProcess server;
  ServerVisitor visitor(leading_to(server));
  ASSERT_TRUE(visitor.is_let_in()) << visitor.loss();
  std::string commands;
  std::vector<std::string> expected;
  for (int i = 0; i < 1000; ++i) {
    expected.push_back(std::to_string(i));
    commands += command({"ECHO", expected.back()});
  }
  visitor.send(commands);
  EXPECT_TRUE(eventually([&] { return visitor.replies().size() == expected.size(); }));
  EXPECT_EQ(visitor.replies(), expected);
}

TEST(ServerConnection, TellsItsNameAndTakesItsDatabase) {
  const RedisProcess server;
  auto options = leading_to(server);
  options.client_name = "weir";
  options.database = 3;
  ServerVisitor visitor(options);
  ASSERT_TRUE(visitor.is_let_in()) << visitor.loss();
  EXPECT_EQ(visitor.ask({"CLIENT", "GETNAME"}), "weir");
  EXPECT_NE(visitor.ask({"CLIENT", "INFO"}).find(" db=3 "), std::string::npos);
}

TEST(ServerConnection, IsLetInWithThePassword) {
  const RedisProcess server({"--requirepass", "secret", "--user", "weir", "on", ">other", "+@all", "~*"});
  for (const auto& [user, password] :
       {std::pair("", "secret"), std::pair("default", "secret"), std::pair("weir", "other")}) {
    auto options = leading_to(server);
    options.user = user;
    options.password = password;
    ServerVisitor visitor(options);
    ASSERT_TRUE(visitor.is_let_in()) << visitor.loss();
    EXPECT_EQ(visitor.ask({"ACL", "WHOAMI"}), *user == '\0' ? "default" : user);
  }
}

TEST(ServerConnection, AUserWithMinimalPermissionsIsAccepted) {
  const RedisProcess server({"--user", "weir", "on", ">other", "+evalsha", "~*"});
  auto options = leading_to(server);
  options.user = "weir";
  options.password = "other";
  options.client_name = "weir";
  ServerVisitor visitor(options);
  ASSERT_TRUE(visitor.is_let_in()) << visitor.loss();
}

TEST(ServerConnection, SaysWhichSettingLetsItNotIn) {
  const RedisProcess open;
  const RedisProcess locked({"--requirepass", "secret", "--user", "weir", "on", ">other", "+@all", "~*"});
  const RedisProcess cluster({"--cluster-enabled", "yes"});
  const struct {
    const RedisProcess& server;
    const char* user;
    const char* password;
    int database;
    std::string message;
  } rows[] = {
      {locked, "", "", 0, "the server requires a password (NOAUTH); set `password_file`, and `user` if needed"},
      {locked, "", "guess", 0, "wrong password (WRONGPASS); check `password_file`, or set `user`"},
      {locked, "weir", "guess", 0, "wrong password or unknown user weir (WRONGPASS); check `user` and `password_file`"},
      {locked, "nobody", "guess", 0,
       "wrong password or unknown user nobody (WRONGPASS); check `user` and `password_file`"},
      {open, "", "guess", 0, "the server's default user has no password; remove `password_file`, or set `user`"},
      {open, "", "", 16, "database 16 is not available: ERR DB index is out of range; check the database in its url"},
      {cluster, "", "", 1,
       "database 1 is not available: ERR SELECT is not allowed in cluster mode; check the database in its url"},
  };
  for (const auto& row : rows) {
    auto options = leading_to(row.server);
    options.user = row.user;
    options.password = row.password;
    options.database = row.database;
    ServerVisitor visitor(options);
    visitor.connect();
    EXPECT_EQ(visitor.loss(), where(row.server) + row.message);
    EXPECT_EQ(visitor.arrivals(), 0);
  }
}

TEST(ServerConnection, WhatIsSentBeforeItIsReadyIsDropped) {
  const RedisProcess server;
  ServerVisitor visitor(leading_to(server));
  visitor.with([](ServerConnection& connection) {
    connection.send(command({"SET", "dropped", "1"}));
    connection.connect();
    EXPECT_FALSE(connection.ready());
    connection.send(command({"SET", "dropped", "1"}));
  });
  ASSERT_TRUE(eventually([&] { return visitor.arrivals() == 1; }));
  EXPECT_EQ(visitor.ask({"TYPE", "dropped"}), "none");
}

TEST(ServerConnection, HearsWhatASubscriptionSends) {
  const RedisProcess server;
  ServerVisitor listener(leading_to(server));
  ServerVisitor speaker(leading_to(server));
  ASSERT_TRUE(listener.is_let_in());
  ASSERT_TRUE(speaker.is_let_in());
  (void)listener.ask({"SUBSCRIBE", "news"});
  (void)speaker.ask({"PUBLISH", "news", "hello"});
  EXPECT_TRUE(eventually([&] { return listener.replies().size() == 2; }));
}

TEST(ServerConnection, IsLostAtOnceWhenTheServerIsKilled) {
  RedisProcess server;
  ServerVisitor visitor(leading_to(server));
  ASSERT_TRUE(visitor.is_let_in());
  server.pause();
  visitor.send(command({"PING"}));
  server.kill();
  EXPECT_NE(visitor.loss().find(where(server)), std::string::npos) << visitor.loss();
  EXPECT_EQ(visitor.replies().size(), 0U);
  visitor.with([](const ServerConnection& connection) { EXPECT_FALSE(connection.ready()); });
}

TEST(ServerConnection, ConnectsAgainWhenItsOwnerSaysSo) {
  const RedisProcess server;
  ServerVisitor visitor(leading_to(server));
  visitor.when_lost = [](ServerConnection& connection) { connection.connect(); };
  ASSERT_TRUE(visitor.is_let_in());
  EXPECT_EQ(server.ask_bytes(command({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"})), ":1\r\n");
  EXPECT_TRUE(eventually([&] { return visitor.arrivals() == 2; }));
  EXPECT_EQ(visitor.losses(), std::vector{where(server) + "the server closed the connection"});
  visitor.send(command({"PING"}));
  EXPECT_TRUE(eventually([&] { return visitor.replies() == std::vector<std::string>{"PONG"}; }));
}

TEST(ServerConnection, AServerThatStandsStillIsLostWhenPatienceEnds) {
  const RedisProcess server;
  server.pause();
  auto options = leading_to(server);
  options.connect_timeout = 30ms;
  ServerVisitor visitor(options);
  visitor.connect();
  EXPECT_EQ(visitor.loss(),
            where(server) + "does not answer in time; check that it is a Redis server and not overloaded");
}

TEST(ServerConnection, OnceItIsReadyItWaitsForAsLongAsItsOwnerDoes) {
  const RedisProcess server;
  auto options = leading_to(server);
  options.connect_timeout = 500ms;
  ServerVisitor visitor(options);
  ASSERT_TRUE(visitor.is_let_in());
  (void)visitor.ask({"BLPOP", "nothing", "0.6"});
  EXPECT_EQ(visitor.losses().size(), 0U);
}

TEST(ServerConnection, AReplyBeyondTheBoundIsRejected) {
  const RedisProcess server;
  auto options = leading_to(server);
  options.reply_limits.length = 1000;
  ServerVisitor visitor(options);
  ASSERT_TRUE(visitor.is_let_in());
  const std::string large(980, 'x');
  EXPECT_EQ(visitor.ask({"ECHO", large}), large);
  EXPECT_EQ(visitor.ask({"ECHO", large + large}),
            where(server) + "sends a reply that exceeds the length limit; check that it is a Redis server");
}

TEST(ServerConnection, MayBeEndedFromWithinItsCallbacks) {
  const RedisProcess server;
  using Event = std::function<void(ServerConnection&)> ServerVisitor::*;
  for (const Event event : {&ServerVisitor::when_ready, &ServerVisitor::when_reply, &ServerVisitor::when_lost}) {
    for (const bool destroyed : {false, true}) {
      ServerVisitor visitor(leading_to(server));
      visitor.*event = [&](ServerConnection& connection) {
        connection.close();
        if (destroyed) visitor.destroy_here();
      };
      ASSERT_TRUE(visitor.is_let_in());
      if (event == &ServerVisitor::when_ready) continue;
      if (event == &ServerVisitor::when_reply) {
        visitor.send(command({"PING"}) + command({"PING"}));
        EXPECT_TRUE(eventually([&] { return visitor.replies().size() == 1; }));
      } else {
        visitor.send(command({"QUIT"}));
        EXPECT_NE(visitor.loss(), "nothing is lost");
      }
    }
  }
}

// Sends a fixed answer to everything it receives.
class Talker final : public net::Session {
 public:
  explicit Talker(std::string words) : words_(std::move(words)) {}
  std::size_t on_input(std::span<char> input, net::Output& out) override {
    out.append(words_);
    return input.size();
  }

 private:
  std::string words_;
};

TEST(ServerConnection, WhatIsNoRedisServerIsNamed) {
  const struct {
    const char* said;
    const char* message;
  } rows[] = {
      {"HTTP/1.1 400 Bad Request\r\n\r\n", "sends a value of unknown type; check that it is a Redis server"},
      {"-ERR max number of clients reached\r\n",
       "the server rejected the connection: ERR max number of clients reached"},
      {"-DENIED Redis is running in protected mode because ...\r\n",
       "the server is in protected mode and accepts only local connections (DENIED); set a password there"},
  };
  for (const auto& row : rows) {
    const net::Server server([&](const net::Peer&, const net::Link&) { return std::make_unique<Talker>(row.said); });
    ServerConnection::Options options;
    options.endpoint = {"127.0.0.1", server.listener->bound().port(), ""};
    ServerVisitor visitor(options);
    visitor.connect();
    EXPECT_EQ(visitor.loss(), server.listener->bound().text() + ": " + row.message);
  }
}

TEST(ServerConnection, ThePasswordIsNotShownWhereAServerRepeatsIt) {
  const net::Server server([](const net::Peer&, const net::Link&) {
    return std::make_unique<Talker>("-ERR unknown command `AUTH`, with args beginning with: `secret`, \r\n");
  });
  ServerConnection::Options options;
  options.endpoint = {"127.0.0.1", server.listener->bound().port(), ""};
  options.password = "secret";
  ServerVisitor visitor(options);
  visitor.connect();
  EXPECT_EQ(visitor.loss(), server.listener->bound().text() +
                                ": the server rejected AUTH; check that it is a Redis server of version 6 or later");
}

}  // namespace
}  // namespace weir::store::redis
