// The TLS layer of one connection, without a socket: it converts between wire bytes and plain bytes. A connection reads
// and writes its socket the same way with and without TLS: all records of one read are one batch, and all records of
// the output leave with one write. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "net/buffers.h"

struct bio_st;
struct ssl_ctx_st;
struct ssl_st;

namespace weir::net {

class TlsStream {
 public:
  static constexpr std::size_t wire_size = std::size_t{16} << 10;  // the size of one read from the socket

  enum class Handshake : std::uint8_t { in_progress, done, failed };
  enum class Reading : std::uint8_t {
    drained,  // all received records are read
    full,     // the input is at its bound; more may follow
    ended,    // the peer has sent its close notification
    failed
  };

  // The server side. Null if out of memory.
  [[nodiscard]] static std::unique_ptr<TlsStream> make(ssl_ctx_st& context);
  // The client side. The server's certificate must be for `server_name`, a name or an IP address. Returns null if it is
  // neither, or if out of memory.
  [[nodiscard]] static std::unique_ptr<TlsStream> make_client(ssl_ctx_st& context, const std::string& server_name);

  void receive(std::span<const char> wire);     // bytes read from the socket
  void take_wire(std::string& to);              // appends the bytes to send; call it after each function below
  [[nodiscard]] Handshake handshake();          // continues the handshake
  [[nodiscard]] Reading read(InputBuffer& to);  // reads as much as fits
  [[nodiscard]] bool write(std::string_view plain);
  void shut();  // writes the close notification

  // The reason why handshake() or read() failed. Must be called right after it.
  [[nodiscard]] std::string problem() const;

  [[nodiscard]] std::string client_subject()
      const;  // the subject of the verified client certificate; empty without one
  [[nodiscard]] std::string application() const;

 private:
  struct Free {
    void operator()(ssl_st* ssl) const noexcept;
  };

  [[nodiscard]] static std::unique_ptr<TlsStream> over_memory(ssl_ctx_st& context);
  explicit TlsStream(std::unique_ptr<ssl_st, Free> ssl, bio_st* incoming, bio_st* outgoing) noexcept;

  std::unique_ptr<ssl_st, Free> ssl_;
  bio_st* incoming_;  // both owned by ssl_
  bio_st* outgoing_;
};

}  // namespace weir::net
