// Facts about one Redis server that determine whether it can store limits.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "net/loop.h"
#include "store/redis/replies.h"
#include "store/redis/server_connection.h"
#include "weir/result.h"
#include "weir/time.h"

namespace weir::server {

// Sends single commands to one Redis server and blocks until each reply. Used by --check, never while serving. Used by
// one thread other than the loop's; the loop must run as long as the probe lives.
class RedisProbe final : private store::redis::ServerConnection::Owner {
 public:
  using Take = std::function<void(const wire::resp::Reply&)>;

  // No call takes much longer than `options.connect_timeout`.
  RedisProbe(net::Loop& loop, store::redis::ServerConnection::Options options);
  ~RedisProbe() override;
  RedisProbe(const RedisProbe&) = delete;
  RedisProbe& operator=(const RedisProbe&) = delete;

  [[nodiscard]] Result<void> connect();

  // `take` is called on the loop's thread with the reply, which may be an error reply, before this returns.
  [[nodiscard]] Result<void> send(std::initializer_list<std::string_view> command, const Take& take);

  // Returns the round trip of the last command, measured on the loop.
  [[nodiscard]] Duration round_trip() const noexcept { return round_trip_; }
  // Returns the time halfway through that round trip, by this host's clock.
  [[nodiscard]] Instant sent_at() const noexcept { return sent_at_; }

 private:
  void on_ready() override;
  void on_reply(const wire::resp::Reply& reply) override;
  void on_lost(const Error& error) override;

  void finish(std::optional<Error> error);
  [[nodiscard]] Result<void> wait(const std::function<void()>& begin);

  net::Loop& loop_;
  const std::string where_;
  const Duration timeout_;
  std::unique_ptr<store::redis::ServerConnection> connection_;  // this and the next two belong to the loop's thread
  const Take* take_ = nullptr;
  std::chrono::steady_clock::time_point sent_;
  Duration round_trip_{};
  Instant sent_at_{};

  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  bool done_ = false;
  std::optional<Error> error_;
};

struct RedisFacts {
  store::redis::ServerInfo info;
  store::redis::ServerRole role = store::redis::ServerRole::master;
  std::size_t replicas = 0;
  Duration round_trip{};   // median of several
  Duration clock_ahead{};  // relative to this host's clock
  std::string forbidden;   // the server's error about a missing permission; empty if none is missing
};

// `prefix` is the prefix of Weir's keys. Changes nothing in Redis.
[[nodiscard]] Result<RedisFacts> gather_facts(RedisProbe& probe, const std::string& prefix);

// The minimum version is 6.2.
[[nodiscard]] bool is_too_old(std::string_view version) noexcept;

}  // namespace weir::server
