// The interface between a connection and a protocol: a Session gets bytes, writes to an Output, and has a Link for
// answers that come later.
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

// What a session answers. It is sent when the session returns: everything that one read brought, with one write.
// A plain value: a test of a session makes one, and looks into it.
class Output {
 public:
  static constexpr std::size_t default_bound = std::size_t{256} << 10;

  explicit Output(std::size_t bound = default_bound) : bound_(bound == 0 ? 1 : bound) {}

  // To append to. What is in it already is not the session's any more.
  [[nodiscard]] std::string& bytes() noexcept { return bytes_; }
  void append(std::string_view more) { bytes_.append(more); }

  // As much is unsent as may be: a session that can stop between two messages stops here, and is called again with
  // the rest when the peer has read.
  [[nodiscard]] bool full() const noexcept { return bytes_.size() + in_flight_ >= bound_; }

  // No more input is wanted; the connection is closed when all is sent.
  void close_after() noexcept { closing_ = true; }
  [[nodiscard]] bool closing() const noexcept { return closing_; }

  // An answer is held: no more input until Link::resume.
  void pause() noexcept { paused_ = true; }
  [[nodiscard]] bool paused() const noexcept { return paused_; }

 private:
  friend class Connection;

  std::string bytes_;
  std::size_t bound_;
  std::size_t in_flight_ = 0;  // begun to be sent, and not gone yet
  bool closing_ = false;
  bool paused_ = false;
};

// A session's handle of its connection. It may outlive the connection: then nothing happens. Copies are cheap. All but
// post() and loop() only from the thread of the loop.
class Link {
 public:
  Link() = default;  // of no connection: for tests of a session
  Link(std::weak_ptr<Connection> connection, Loop& loop) noexcept : connection_(std::move(connection)), loop_(&loop) {}

  [[nodiscard]] bool alive() const;

  // Sends, now unless the session is being called: then with its answers.
  void send(std::string_view bytes) const;
  // Ends Output::pause: Session::on_resume, then input goes on.
  void resume() const;
  // The same at a given time, to the precision of the system's timers. The latest call counts.
  void resume_at(SteadyTime when) const;
  // At once; what is unsent is lost. Output::close_after is the orderly way.
  void close() const;

  // From any thread: runs `work` on the loop's thread, if the session is there by then.
  void post(std::function<void()> work) const;

  // Null if it has no connection.
  [[nodiscard]] Loop* loop() const noexcept { return loop_; }

 private:
  std::weak_ptr<Connection> connection_;
  Loop* loop_ = nullptr;
};

// The other end of a connection.
struct Peer {
  std::string address;  // the IP alone, IPv4 if it was mapped into IPv6; empty for a unix socket
  std::uint16_t port = 0;
  bool unix_socket = false;
  bool tls = false;
  std::string certificate_subject;  // of a verified client certificate, as RFC 2253 writes it; empty: none
  std::string application;          // what ALPN agreed on (`h2`); empty: nothing
};

// One per connection, made when the connection is ready (with TLS: after the handshake), destroyed when it is gone. All
// calls come from the thread of its loop. A call that throws closes the connection.
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

  // About every Loop tick, for timeouts that only the protocol knows.
  virtual void on_tick(SteadyTime /*now*/, Output& /*out*/) {}

  // After Link::resume: the place to write held answers. on_input follows if bytes are left.
  virtual void on_resume(Output& /*out*/) {}

  // The peer sends no more, and may still read. Unless the output is paused, the connection closes when all is sent.
  virtual void on_end(Output& /*out*/) {}

  // The server is going away: the place to say so.
  virtual void on_drain(Output& /*out*/) {}

  // Nothing is under way besides unconsumed bytes: a draining server may close the connection now.
  [[nodiscard]] virtual bool idle() const { return true; }
};

// Called on the loop's thread, by several loops at once. Null refuses the connection.
using MakeSession = std::function<std::unique_ptr<Session>(const Peer&, const Link&)>;

}  // namespace weir::net
