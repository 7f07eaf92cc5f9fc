// The baseline: one EVALSHA of a plain GCRA script per request, pipelined on one connection.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "redis/load.h"
#include "store/redis/server_connection.h"

namespace weir::bench {

class PlainLoad final : public Load, private store::redis::ServerConnection::Owner {
 public:
  PlainLoad(net::Loop& loop, const net::Endpoint& server);

  void begin(Work work, std::size_t under_way) override;
  void end() override { ending_ = true; }

  [[nodiscard]] bool ready() const noexcept { return ready_.load(); }

  // Sends a PING and reports its round-trip time.
  void ping();
  std::function<void()> on_pong;

 private:
  void on_ready() override;
  void on_reply(const wire::resp::Reply& reply) override;
  void on_lost(const Error& error) override;
  void append_request();

  store::redis::ServerConnection connection_;
  std::string one_;  // the digests
  std::string two_;
  Keys keys_{"plain:"};
  Work work_ = Work::distinct_keys;
  bool ending_ = false;
  bool pinging_ = false;
  std::atomic<bool> ready_ = false;
  std::string key_;
  std::string all_;
  std::string bytes_;
};

}  // namespace weir::bench
