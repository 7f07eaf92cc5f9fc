// The TLS side of one connection, without a socket: wire bytes in and out, plain bytes in and out. So a connection
// with TLS reads and writes its socket as any other does: all records that one read brought are one batch, and all
// that the answers need leave with one write. One thread.
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
  static constexpr std::size_t wire_size = std::size_t{16} << 10;  // as much is read from the socket at once

  enum class Handshake : std::uint8_t { going_on, done, failed };
  enum class Reading : std::uint8_t {
    drained,  // all that came is read
    held,     // the input is at its bound, more may be here
    ended,    // the peer has said that it sends no more
    failed
  };

  // The server's side. Null if there is no memory for it.
  [[nodiscard]] static std::unique_ptr<TlsStream> make(ssl_ctx_st& context);
  // The client's: of a server with a certificate for this name or IP. Null also if it can be neither.
  [[nodiscard]] static std::unique_ptr<TlsStream> make_client(ssl_ctx_st& context, const std::string& server_name);

  void receive(std::span<const char> wire);     // what came from the socket
  void take_wire(std::string& to);              // appends what is to go to the socket: after each call below, too
  [[nodiscard]] Handshake handshake();          // goes on with it
  [[nodiscard]] Reading read(InputBuffer& to);  // as much as fits
  [[nodiscard]] bool write(std::string_view plain);
  void shut();  // says that we send no more

  // Why the handshake, or a read, failed: asked right after it.
  [[nodiscard]] std::string problem() const;

  [[nodiscard]] std::string client_subject() const;  // verified; empty: no client certificate
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
