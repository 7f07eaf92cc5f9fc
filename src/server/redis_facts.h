// What one Redis server says about itself, and what of it is unfit for limits.
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

// Sends single commands to one Redis server and waits for each reply: for a check, never for serving. Used by one
// thread that is not the loop's; the loop runs as long as the probe lives.
class RedisProbe final : private store::redis::ServerConnection::Owner {
 public:
  using Take = std::function<void(const wire::resp::Reply&)>;

  // Nothing takes longer than `options.timeout`.
  RedisProbe(net::Loop& loop, store::redis::ServerConnection::Options options);
  ~RedisProbe() override;
  RedisProbe(const RedisProbe&) = delete;
  RedisProbe& operator=(const RedisProbe&) = delete;

  [[nodiscard]] Result<void> connect();

  // `take` has seen the answer, on the loop's thread, when this returns; an answer may be an error of the server.
  [[nodiscard]] Result<void> send(std::initializer_list<std::string_view> command, const Take& take);

  // Of the last answer, as the loop saw it.
  [[nodiscard]] Duration round_trip() const noexcept { return round_trip_; }
  // By this machine's clock, half-way through it.
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
  std::unique_ptr<store::redis::ServerConnection> connection_;  // of the loop's thread, as the next two
  const Take* take_ = nullptr;
  std::chrono::steady_clock::time_point sent_;
  Duration round_trip_{};
  Instant sent_at_{};

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  bool done_ = false;
  std::optional<Error> error_;
};

struct RedisFacts {
  store::redis::ServerInfo info;
  store::redis::ServerRole role = store::redis::ServerRole::master;
  std::size_t replicas = 0;  // that follow it
  Duration round_trip{};     // the median of several
  Duration clock_ahead{};    // of this machine's
  std::string forbidden;     // what the user may not do, in the server's words; empty: nothing that is needed
};

// `prefix` is that of our keys. Changes nothing there.
[[nodiscard]] Result<RedisFacts> gather_facts(RedisProbe& probe, const std::string& prefix);

// 6.2 is the first that fits.
[[nodiscard]] bool is_too_old(std::string_view version) noexcept;

}  // namespace weir::server
