// A client connection: it resolves the host, connects, completes the TLS handshake if configured, and transfers bytes.
// Used only on the loop's thread. Must be destroyed before the loop.
//
// 1. No member function calls the owner before it returns: callbacks come later.
// 2. It may be closed, reconnected or destroyed at any time, even from the owner's callbacks. The owner gets no further
//    callbacks about a closed connection.
// 3. on_lost is called once per connection. Nothing is retried unless connect() is called.
// 4. Bytes sent during on_connected or on_bytes leave with one write when it returns; other bytes are sent immediately.
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
  std::shared_ptr<const TlsClientContext> tls;       // null disables TLS
  std::string server_name;                           // to verify the certificate against; empty: the endpoint's host
  Duration timeout = std::chrono::seconds(5);        // for lookup, connect and handshake together
  std::size_t input_bound = std::size_t{1} << 20;    // the connection is lost if the owner leaves more unconsumed
  std::size_t output_bound = std::size_t{64} << 20;  // the connection is lost if the server leaves more unread
};

class Outgoing {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void on_connected() = 0;
    // `bytes` is all unconsumed input. Returns how many bytes it consumed; the rest is passed again with more input.
    [[nodiscard]] virtual std::size_t on_bytes(std::span<char> bytes) = 0;
    virtual void on_lost(const Error& error) = 0;
  };

  Outgoing(Loop& loop, OutgoingOptions options, Owner& owner);
  ~Outgoing();
  Outgoing(const Outgoing&) = delete;
  Outgoing& operator=(const Outgoing&) = delete;

  void connect();  // closes an existing connection first
  [[nodiscard]] bool connected() const noexcept;
  void send(std::string_view bytes);  // dropped unless connected
  [[nodiscard]] std::size_t unsent() const noexcept;
  void close();  // drops unsent bytes

 private:
  Loop& loop_;
  const std::shared_ptr<const OutgoingOptions> options_;
  Owner& owner_;
  std::shared_ptr<OutgoingConnection> connection_;
};

}  // namespace weir::net
