// A connection to one Redis server: the handshake (authentication, client name, database), then commands and replies.
// Not thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/outgoing.h"
#include "net/timer.h"
#include "weir/result.h"
#include "weir/time.h"
#include "wire/resp/reply_parser.h"

namespace weir::store::redis {

struct Credentials {
  std::string user;      // empty: Redis's default user
  std::string password;  // empty: none
};

class Handshake {
 public:
  // `client_name` has no spaces; empty: none.
  Handshake(const Credentials& credentials, const std::string& client_name, int database);

  // All commands, sent together.
  [[nodiscard]] const std::string& commands() const noexcept { return commands_; }

  // Reads the next reply. Returns the error and the setting to look at, or an empty text if there is none. Never
  // contains the password, even if the server repeats it.
  [[nodiscard]] std::string take(const wire::resp::Reply& reply);

  [[nodiscard]] bool done() const noexcept { return taken_ == steps_.size(); }

 private:
  enum class Step : std::uint8_t { authenticate, introduce, select };

  [[nodiscard]] std::string refusal(Step step, std::string_view error) const;

  std::string commands_;
  std::vector<Step> steps_;
  std::size_t taken_ = 0;
  std::string user_;
  int database_;
};

// One connection to one Redis server (RESP2): authenticated, named and on its database before it is ready. Used on the
// loop's thread; must be destroyed before the loop.
//
// 1. Replies arrive in the order of the commands, one each; subscription messages arrive as replies, too.
// 2. The owner is never called from within its own calls. The connection may be closed, reconnected or destroyed at any
//    time, even from within the owner's callbacks; the owner gets no events of a closed connection.
// 3. A connection is lost only once. Commands without an answer may or may not have been executed. The owner decides
//    when to reconnect.
// 4. No error contains a password.
class ServerConnection final : private net::Outgoing::Owner {
 public:
  struct Options {
    net::Endpoint endpoint;
    std::string user;      // empty: Redis's default user
    std::string password;  // empty: none
    int database = 0;
    std::shared_ptr<const net::TlsClientContext> tls;    // null: plain text
    std::string server_name;                             // expected in the certificate; empty: the endpoint's host
    std::string client_name;                             // shown by CLIENT LIST; no spaces; empty: none
    Duration connect_timeout = std::chrono::seconds(5);  // the time from connect() until ready
    wire::resp::ReplyLimits reply_limits;
  };

  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void on_ready() = 0;
    // `reply` is valid only during the call.
    virtual void on_reply(const wire::resp::Reply& reply) = 0;
    virtual void on_lost(const Error& error) = 0;
  };

  ServerConnection(net::Loop& loop, Options options, Owner& owner);
  ~ServerConnection() override;
  ServerConnection(const ServerConnection&) = delete;
  ServerConnection& operator=(const ServerConnection&) = delete;

  void connect();  // closes the existing connection, if any
  [[nodiscard]] bool ready() const noexcept;
  // Sends whole commands; drops them unless ready. Commands sent in a callback go out together when it returns.
  void send(std::string_view commands);
  [[nodiscard]] std::size_t unsent() const noexcept { return outgoing_.unsent(); }
  void close();

  [[nodiscard]] const net::Endpoint& endpoint() const noexcept { return options_.endpoint; }

 private:
  struct Talk;

  void on_connected() override;
  [[nodiscard]] std::size_t on_bytes(std::span<char> bytes) override;
  void on_lost(const Error& error) override;
  void take_greeting(const wire::resp::Reply& reply);
  void lose(std::string what);

  const Options options_;
  Owner& owner_;
  std::shared_ptr<Talk> talk_;  // parser and handshake of the connection; null if not connected
  net::Outgoing outgoing_;
  std::chrono::steady_clock::time_point deadline_;  // the deadline for becoming ready
  net::Timer timeout_;
};

}  // namespace weir::store::redis
