// The interface between a connection and a protocol: a Session receives bytes, writes to an Output, and uses a Link for
// later responses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "net/loop.h"

namespace weir::net {

class Connection;

// The output of a session. It is sent when the session returns: one read is answered with one write. A plain value, so
// that tests can call a session without a connection.
class Output {
 public:
  static constexpr std::size_t default_bound = std::size_t{256} << 10;

  explicit Output(std::size_t bound = default_bound) : bound_(bound == 0 ? 1 : bound) {}

  // The session may only append.
  [[nodiscard]] std::string& bytes() noexcept { return bytes_; }
  void append(std::string_view more) { bytes_.append(more); }

  // True when the unsent output has reached its bound. A session should then stop between two messages if it can; it is
  // called again with the rest once the peer has read.
  [[nodiscard]] bool full() const noexcept { return bytes_.size() + in_flight_ >= bound_; }

  // Stops input and closes the connection when all output is sent.
  void close_after() noexcept { closing_ = true; }
  [[nodiscard]] bool closing() const noexcept { return closing_; }

  // Stops input until Link::resume, because a response is pending.
  void pause() noexcept { paused_ = true; }
  [[nodiscard]] bool paused() const noexcept { return paused_; }

 private:
  friend class Connection;

  std::string bytes_;
  std::size_t bound_;
  std::size_t in_flight_ = 0;  // bytes passed to the Sender but not sent yet
  bool closing_ = false;
  bool paused_ = false;
};

// A session's handle to its connection. It may outlive the connection; its functions then do nothing. Cheap to copy.
// Everything except post() and loop() must be called on the loop's thread.
class Link {
 public:
  Link() = default;  // has no connection, for tests of a session
  Link(std::weak_ptr<Connection> connection, Loop& loop) noexcept : connection_(std::move(connection)), loop_(&loop) {}

  [[nodiscard]] bool alive() const;

  // Sends immediately, or with the session's output if called during one of its callbacks.
  void send(std::string_view bytes) const;
  // Ends Output::pause: calls Session::on_resume, then input continues.
  void resume() const;
  // Resumes at the given time, with the precision of the system's timers. Replaces an earlier resume_at.
  void resume_at(SteadyTime when) const;
  // Closes immediately and drops unsent output; Output::close_after sends it first.
  void close() const;

  // Runs `work` on the loop's thread, unless the session has ended by then. Thread-safe.
  void post(std::function<void()> work) const;

  // Null if default-constructed.
  [[nodiscard]] Loop* loop() const noexcept { return loop_; }

 private:
  std::weak_ptr<Connection> connection_;
  Loop* loop_ = nullptr;
};

// The other end of a connection.
struct Peer {
  std::string address;  // the IP address (IPv4 if IPv4-mapped); empty for a unix socket
  std::uint16_t port = 0;
  bool unix_socket = false;
  bool tls = false;
  std::string certificate_subject;  // subject of the verified client certificate (RFC 2253); empty without one
  std::string application;          // the protocol negotiated by ALPN (`h2`); empty without ALPN
};

// One per connection, created when the connection is ready (with TLS, after the handshake) and destroyed with it. All
// calls come from the loop's thread. A call that throws closes the connection.
class Session {
 public:
  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  virtual ~Session() = default;

  // `bytes` is all unconsumed input. Returns how many bytes were consumed. Called again only when more input arrives,
  // or when Output::full or Output::pause ends, so it must consume every complete message. Unconsumed bytes are passed
  // again as the session left them, so it may decode in place. While the output is paused, and until on_resume returns
  // with the output not paused, all bytes stay where they are, including consumed ones.
  [[nodiscard]] virtual std::size_t on_input(std::span<char> bytes, Output& out) = 0;

  // Called about every Loop tick, for protocol timeouts.
  virtual void on_tick(SteadyTime /*now*/, Output& /*out*/) {}

  // Called after Link::resume, to write pending responses. on_input follows if unconsumed bytes remain.
  virtual void on_resume(Output& /*out*/) {}

  // The peer has finished sending and may still read. Unless the output is paused, the connection closes when all
  // output is sent.
  virtual void on_end(Output& /*out*/) {}

  // The server is shutting down; a session may announce it to the peer.
  virtual void on_drain(Output& /*out*/) {}

  // True if no request is in flight: a draining server may then close the connection.
  [[nodiscard]] virtual bool idle() const { return true; }
};

// Called concurrently by the loops. A null result closes the connection.
using MakeSession = std::function<std::unique_ptr<Session>(const Peer&, const Link&)>;

}  // namespace weir::net
