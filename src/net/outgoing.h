// A connection to a server, from our side: looks the host up, connects, shakes hands where TLS is wanted, and then
// carries bytes. All on the loop's thread; destroyed before the loop is.
//
// 1. The owner is never called from within one of its own calls of this: what follows from them comes later.
// 2. It may be closed, connected again or destroyed at any time, also from within the owner's callbacks. The owner is
//    not called again about what was closed.
// 3. A connection is lost once, and then gone: nothing is tried again unless connect() is called.
// 4. What is sent from within on_connected or on_bytes leaves with one write when they return; what is sent from
//    elsewhere leaves at once.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "net/address.h"
#include "net/tls_context.h"
#include "weir/result.h"
#include "weir/time.h"

namespace weir::net {

class Loop;
class OutgoingConnection;

struct OutgoingOptions {
  Endpoint endpoint;
  std::shared_ptr<const TlsClientContext> tls;       // null: plain
  std::string server_name;                           // that the certificate must be for; empty: the endpoint's host
  Duration timeout = std::chrono::seconds(5);        // until it is connected: look-up and handshake included
  std::size_t input_bound = std::size_t{1} << 20;    // of bytes that the owner does not consume: beyond, it is lost
  std::size_t output_bound = std::size_t{64} << 20;  // of bytes that the server does not read: beyond, it is lost
};

class Outgoing {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void on_connected() = 0;
    // All bytes that are there and not consumed. Returns how many are done with; the rest comes again, with more.
    [[nodiscard]] virtual std::size_t on_bytes(std::span<char> bytes) = 0;
    virtual void on_lost(const Error& error) = 0;
  };

  Outgoing(Loop& loop, OutgoingOptions options, Owner& owner);
  ~Outgoing();
  Outgoing(const Outgoing&) = delete;
  Outgoing& operator=(const Outgoing&) = delete;

  void connect();  // closes what is there
  [[nodiscard]] bool connected() const noexcept;
  void send(std::string_view bytes);  // dropped unless it is connected
  [[nodiscard]] std::size_t unsent() const noexcept;
  void close();  // what is unsent is lost

 private:
  Loop& loop_;
  const std::shared_ptr<const OutgoingOptions> options_;
  Owner& owner_;
  std::shared_ptr<OutgoingConnection> connection_;
};

}  // namespace weir::net
