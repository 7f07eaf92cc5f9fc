// Asks the Sentinels one after the other for the master, and subscribes to the one that answered. A Sentinel that does
// not answer within the timeout is skipped. Used on the loop's thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "net/address.h"
#include "net/loop.h"
#include "store/redis/redis_options.h"
#include "store/redis/script_call.h"
#include "store/redis/server_connection.h"
#include "weir/result.h"
#include "wire/resp/reply_parser.h"

namespace weir::store::redis {

class SentinelWatch final : private ServerConnection::Owner {
 public:
  class Owner {
   public:
    virtual void on_master(const net::Endpoint& master) = 0;
    // A Sentinel failed; the next one will be asked.
    virtual void on_sentinel_lost(const std::string& what) = 0;

   protected:
    ~Owner() = default;
  };

  // `options` must contain Sentinels and outlive this object.
  SentinelWatch(net::Loop& loop, const RedisOptions& options, Owner& owner);

  // Asks again. on_master will be called.
  void find();
  void tick(SteadyTime now);

 private:
  void on_ready() override;
  void on_reply(const wire::resp::Reply& reply) override;
  void on_lost(const Error& error) override;
  void connect();

  net::Loop& loop_;
  const RedisOptions& options_;
  Owner& owner_;
  std::unique_ptr<ServerConnection> connection_;
  std::size_t next_ = 0;  // index of the Sentinel
  bool asked_ = false;    // the first reply is outstanding
  SteadyTime asked_at_{};
  bool finding_ = false;
  bool waiting_ = false;  // waits until retry_at_
  SteadyTime retry_at_{};
};

}  // namespace weir::store::redis
