// One connection: bytes from the socket to the session, and back. Internal to src/net; sessions see their Link.
// All on the loop's thread.
//
// TCP and unix sockets are one type of socket here, and TLS is a step between the socket and the buffers.
//
// 1. In each round of the loop it reads once, at most. A read that finds less than there is room for has found all, and
//    the next one waits until the socket is ready again. Not so where something stops a read: the peer's end, urgent
//    bytes, or descriptors on a unix socket; there it is one that finds nothing.
// 2. Nothing is read while an answer is held, while output_bound is unsent, or after the session has closed.
// 3. The session is never called from within one of its own calls: what it asks for then is done when it returns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/acceptor.h"
#include "net/buffers.h"
#include "net/poller.h"
#include "net/session.h"
#include "net/timer.h"
#include "net/tls_stream.h"

namespace weir::net {

class Connection final : public std::enable_shared_from_this<Connection>, private Watcher {
 public:
  Connection(std::shared_ptr<Acceptor> acceptor, OpenCount count, Peer peer, std::unique_ptr<TlsStream> tls);

  [[nodiscard]] bool take(Descriptor socket);  // false: the loop cannot have it
  void start();
  void tick(SteadyTime now);
  void drain();
  void close();  // at once

  // For Link.
  [[nodiscard]] bool has_session() const noexcept { return session_ != nullptr; }
  void send(std::string_view bytes);
  void resume();
  void resume_at(SteadyTime when);

  std::size_t place = 0;  // in the acceptor's list

 private:
  enum class Stage : std::uint8_t { handshake, open, lingering, closed };

  void enter(Stage stage) noexcept;
  void open_session();
  void advance();
  void shake_hands();
  [[nodiscard]] bool offer();
  [[nodiscard]] bool decrypt();
  template <class Work>
  bool call(const Work& work);
  void note_input(std::size_t pending_before) noexcept;
  void settle();
  [[nodiscard]] bool may_go();
  void finish();

  void on_ready(Readiness ready) override;
  [[nodiscard]] bool wants_input() const noexcept;
  void read();
  void take_input(std::size_t count);
  void flush();
  [[nodiscard]] bool all_sent() const noexcept { return out_.bytes_.empty() && sender_.unsent() == 0; }

  [[nodiscard]] bool overdue(SteadyTime now) const;

  // What every command needs comes first, and lies close together.
  const std::shared_ptr<Acceptor> acceptor_;
  Loop& loop_;
  const ConnectionOptions& options_;
  Watched socket_;
  std::unique_ptr<TlsStream> tls_;    // null: plain
  std::unique_ptr<Session> session_;  // while open

  Stage stage_ = Stage::handshake;
  bool got_input_ = false;  // the session has had a byte
  bool seen_ = true;        // the session has seen all that is pending, and wants more
  bool readable_ = false;   // more may have come than was read
  bool to_the_end_;         // a short read may not have found all
  bool writing_ = false;    // until the socket takes more
  bool peer_done_ = false;  // it sends no more
  bool end_told_ = false;   // and the session knows
  bool draining_ = false;
  bool shut_ = false;  // with TLS: we have said that we send no more
  bool in_session_ = false;
  bool resumed_ = false;      // on_resume is due
  bool abort_ = false;        // close() is due
  SteadyTime moved_at_;       // a byte came or went
  SteadyTime waiting_since_;  // for the session to consume something of what is pending
  SteadyTime stage_since_;

  InputBuffer input_;
  Output out_;  // what the session appends to
  Sender sender_;

  std::vector<char> wire_;  // with TLS: where reads go
  OpenCount count_;
  Peer peer_;
  std::optional<Timer> resume_timer_;  // once it was asked for
};

}  // namespace weir::net
