// A connection to one Redis server: the handshake (who we are, and which database is meant), then commands out and
// replies in. Not thread-safe.
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
  std::string password;  // empty: none is given
};

class Handshake {
 public:
  // `client_name` without spaces; empty: none.
  Handshake(const Credentials& credentials, const std::string& client_name, int database);

  // All of them: they go out together.
  [[nodiscard]] const std::string& commands() const noexcept { return commands_; }

  // The next reply. What is wrong, and which setting to look at; empty: nothing. Never shows the password, which
  // servers may repeat in what they say.
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

// One connection to one Redis server (RESP2): authenticated, named, and on its database before it is ready. All on the
// loop's thread; destroyed before the loop is.
//
// 1. Replies come in the order of the commands, one for each; also what a subscription sends unasked.
// 2. The owner is never called from within one of its own calls of this. It may be closed, connected anew or destroyed
//    at any time, also from within the owner's callbacks; the owner is told nothing more of what was closed.
// 3. A connection is lost once: what was sent and not answered then may have been done or not. When to try again is
//    the owner's business.
// 4. No password is ever part of an error.

class ServerConnection final : private net::Outgoing::Owner {
 public:
  struct Options {
    net::Endpoint endpoint;
    std::string user;      // empty: Redis's default user
    std::string password;  // empty: none is given
    int database = 0;
    std::shared_ptr<const net::TlsClientContext> tls;  // null: plain
    std::string server_name;                           // that its certificate must be for; empty: the endpoint's host
    std::string client_name;                           // as CLIENT LIST shows it; no spaces; empty: none
    Duration timeout = std::chrono::seconds(5);        // from connect() until it is ready
    wire::resp::ReplyLimits reply_limits;
  };

  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void on_ready() = 0;
    // Void when it returns.
    virtual void on_reply(const wire::resp::Reply& reply) = 0;
    virtual void on_lost(const Error& error) = 0;
  };

  ServerConnection(net::Loop& loop, Options options, Owner& owner);
  ~ServerConnection() override;
  ServerConnection(const ServerConnection&) = delete;
  ServerConnection& operator=(const ServerConnection&) = delete;

  void connect();  // closes what is there
  [[nodiscard]] bool ready() const noexcept;
  // Whole commands. Dropped unless it is ready. From within a callback they leave together when it returns, otherwise
  // at once.
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
  std::shared_ptr<Talk> talk_;  // of this connection; null: none
  net::Outgoing outgoing_;
  std::chrono::steady_clock::time_point deadline_;  // until which it is to be ready
  net::Timer timeout_;
};

}  // namespace weir::store::redis
