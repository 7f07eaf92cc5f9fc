// A client of a Redis server with its own loop, which records replies. Used from the test's thread.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/loop.h"
#include "store/redis/server_connection.h"
#include "tests/net/client.h"
#include "wire/resp/writer.h"

namespace weir::store::redis {

using net::eventually;

inline std::string command(std::initializer_list<std::string_view> words) {
  std::string bytes;
  wire::resp::append_command(bytes, words);
  return bytes;
}

class ServerVisitor final : private ServerConnection::Owner {
 public:
  explicit ServerVisitor(ServerConnection::Options options) {
    auto made = net::Loops::make(1, std::chrono::milliseconds(5));
    EXPECT_TRUE(made.has_value());
    loops_ = std::move(*made);
    connection_ = std::make_unique<ServerConnection>((*loops_)[0], std::move(options),
                                                     static_cast<ServerConnection::Owner&>(*this));
    EXPECT_TRUE(loops_->start().has_value());
  }
  ~ServerVisitor() override {
    (*loops_)[0].run([&] { connection_ = nullptr; });
  }

  // Work in its callbacks, besides recording. Set before connecting.
  std::function<void(ServerConnection&)> when_ready = [](ServerConnection&) {};
  std::function<void(ServerConnection&)> when_reply = [](ServerConnection&) {};
  std::function<void(ServerConnection&)> when_lost = [](ServerConnection&) {};

  // Runs `work` on the loop.
  void with(const std::function<void(ServerConnection&)>& work) {
    (*loops_)[0].run([&] { work(*connection_); });
  }
  void connect() {
    with([](ServerConnection& connection) { connection.connect(); });
  }
  void send(std::string_view commands) {
    with([&](ServerConnection& connection) { connection.send(commands); });
  }
  // Call from within a callback.
  void destroy_here() { connection_ = nullptr; }

  [[nodiscard]] bool is_let_in() {
    connect();
    return eventually([&] { return arrivals() == 1 || !losses().empty(); }) && arrivals() == 1;
  }
  [[nodiscard]] std::string loss() {
    if (!eventually([&] { return !losses().empty(); })) return "nothing is lost";
    return losses().front();
  }
  // One reply to one command.
  [[nodiscard]] std::string ask(std::initializer_list<std::string_view> words) {
    const std::size_t before = replies().size();
    send(command(words));
    if (!eventually([&] { return replies().size() > before || !losses().empty(); })) return "no answer";
    return losses().empty() ? replies().back() : losses().front();
  }

  [[nodiscard]] int arrivals() const { return locked(arrivals_); }
  [[nodiscard]] std::vector<std::string> replies() const { return locked(replies_); }  // their texts
  [[nodiscard]] std::vector<std::string> losses() const { return locked(losses_); }

 private:
  void on_ready() override {
    {
      const std::lock_guard lock(mutex_);
      ++arrivals_;
    }
    when_ready(*connection_);
  }
  void on_reply(const wire::resp::Reply& reply) override {
    {
      const std::lock_guard lock(mutex_);
      replies_.emplace_back(reply.text());
    }
    when_reply(*connection_);
  }
  void on_lost(const Error& error) override {
    {
      const std::lock_guard lock(mutex_);
      losses_.push_back(error.message());
    }
    when_lost(*connection_);
  }

  template <class T>
  [[nodiscard]] T locked(const T& value) const {
    const std::lock_guard lock(mutex_);
    return value;
  }

  mutable std::mutex mutex_;
  int arrivals_ = 0;
  std::vector<std::string> replies_;
  std::vector<std::string> losses_;
  std::unique_ptr<net::Loops> loops_;
  std::unique_ptr<ServerConnection> connection_;
};

}  // namespace weir::store::redis
