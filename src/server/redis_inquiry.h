// Asks one Redis server a few questions, one after the other, and waits for each answer: for a check, never for
// serving. Used by one thread that is not the loop's; the loop runs as long as this lives.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "net/loop.h"
#include "store/redis/server_connection.h"
#include "weir/result.h"
#include "weir/time.h"

namespace weir::server {

class RedisInquiry final : private store::redis::ServerConnection::Owner {
 public:
  using Take = std::function<void(const wire::resp::Reply&)>;

  // Nothing takes longer than `options.patience`.
  RedisInquiry(net::Loop& loop, store::redis::ServerConnection::Options options);
  ~RedisInquiry() override;
  RedisInquiry(const RedisInquiry&) = delete;
  RedisInquiry& operator=(const RedisInquiry&) = delete;

  [[nodiscard]] Result<void> connect();

  // `take` has seen the answer, on the loop's thread, when this returns; an answer may be an error of the server.
  [[nodiscard]] Result<void> ask(std::initializer_list<std::string_view> command, const Take& take);

  // Of the last answer, as the loop saw it.
  [[nodiscard]] Duration round_trip() const noexcept { return round_trip_; }
  // By this machine's clock, half-way through it.
  [[nodiscard]] Instant asked_at() const noexcept { return asked_at_; }

 private:
  void on_ready() override;
  void on_reply(const wire::resp::Reply& reply) override;
  void on_lost(const Error& error) override;

  void finish(std::optional<Error> error);
  [[nodiscard]] Result<void> wait(const std::function<void()>& begin);

  net::Loop& loop_;
  const std::string where_;
  const Duration patience_;
  std::unique_ptr<store::redis::ServerConnection> connection_;  // of the loop's thread, as the next two
  const Take* take_ = nullptr;
  std::chrono::steady_clock::time_point sent_;
  Duration round_trip_{};
  Instant asked_at_{};

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  bool done_ = false;
  std::optional<Error> error_;
};

}  // namespace weir::server
