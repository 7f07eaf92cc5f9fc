// The seam between a connection and a protocol: one Session per connection, made when the connection is ready (with
// TLS: after the handshake), destroyed when it is gone. All calls come from the thread of its loop. A call that
// throws closes the connection.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "net/link.h"
#include "net/output.h"

namespace weir::net {

using Moment = std::chrono::steady_clock::time_point;

// Who is at the other end.
struct Peer {
  std::string address;  // the IP alone, IPv4 if it was mapped into IPv6; empty for a unix socket
  std::uint16_t port = 0;
  bool unix_socket = false;
  bool tls = false;
  std::string certificate_subject;  // of a verified client certificate, as RFC 2253 writes it; empty: none
  std::string application;          // what ALPN agreed on (`h2`); empty: nothing
};

class Session {
 public:
  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  virtual ~Session() = default;

  // All bytes that are there and not consumed. Returns how many are done with. Called again when there are more, or
  // when what stopped it (Output::full, Output::pause) is over; so consume every complete message. Bytes that are not
  // consumed come again as the session left them: it may decode in place. While the output is paused all of them stay
  // where they are, the consumed ones too: until on_resume returns with the output not paused.
  [[nodiscard]] virtual std::size_t on_input(std::span<char> bytes, Output& out) = 0;

  // About every Loop tick, for time-outs that only the protocol knows.
  virtual void on_tick(Moment now, Output& out);

  // After Link::resume: the place to write held answers. on_input follows if bytes are left.
  virtual void on_resume(Output& out);

  // The peer sends no more, and may still read. Unless the output is paused, the connection closes when all is sent.
  virtual void on_end(Output& out);

  // The server is going away: the place to say so.
  virtual void on_drain(Output& out);

  // Nothing is under way besides unconsumed bytes: a draining server may close the connection now.
  [[nodiscard]] virtual bool idle() const;
};

// Called on the loop's thread, by several loops at once. Null refuses the connection.
using MakeSession = std::function<std::unique_ptr<Session>(const Peer&, const Link&)>;

}  // namespace weir::net
