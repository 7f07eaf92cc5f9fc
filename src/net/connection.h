// A server connection: it moves bytes between a socket and a session. Internal to src/net; sessions use their Link.
// Used only on the loop's thread. TCP and unix sockets are treated alike; TLS sits between the socket and the buffers.
//
// 1. It reads at most once per round of the loop. A short read means that the socket is empty, and the next read waits
//    until the socket is ready. If a short read proves nothing (the peer has shut down, urgent data, any unix
//    socket), it reads until EAGAIN.
// 2. It does not read while the output is paused or at output_bound, or after the session has closed.
// 3. It never calls the session recursively: what a session requests during a call is done when the call returns.
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

  [[nodiscard]] bool take(Descriptor socket);  // returns false if the loop cannot watch it
  void start();
  void tick(SteadyTime now);
  void drain();
  void close();  // closes immediately

  // Called by Link.
  [[nodiscard]] bool has_session() const noexcept { return session_ != nullptr; }
  void send(std::string_view bytes);
  void resume();
  void resume_at(SteadyTime when);

  std::size_t index = 0;  // index in the acceptor's list

 private:
  enum class Stage : std::uint8_t { handshake, open, lingering, closed };

  void enter(Stage stage) noexcept;
  void open_session();
  void advance();
  void continue_handshake();
  [[nodiscard]] bool offer();
  [[nodiscard]] bool decrypt();
  template <class Work>
  bool call(const Work& work);
  void note_input(std::size_t pending_before) noexcept;
  void settle();
  [[nodiscard]] bool can_close();
  void finish();

  void on_ready(Readiness ready) override;
  [[nodiscard]] bool accepts_input() const noexcept;
  void read();
  void take_input(std::size_t count);
  void flush();
  [[nodiscard]] bool all_sent() const noexcept { return out_.bytes_.empty() && sender_.unsent() == 0; }

  [[nodiscard]] bool overdue(SteadyTime now) const;

  // Members that every request uses come first, to share cache lines.
  const std::shared_ptr<Acceptor> acceptor_;
  Loop& loop_;
  const ConnectionOptions& options_;
  Watched socket_;
  std::unique_ptr<TlsStream> tls_;    // null without TLS
  std::unique_ptr<Session> session_;  // set while open

  Stage stage_ = Stage::handshake;
  bool got_input_ = false;     // a byte of input has been received
  bool seen_ = true;           // the session has seen all pending input and needs more
  bool readable_ = false;      // the socket may have unread input
  bool until_eagain_;          // a short read does not mean that the socket is empty
  bool writing_ = false;       // waiting until the socket is writable
  bool peer_done_ = false;     // the peer has finished sending
  bool end_reported_ = false;  // on_end has been called
  bool draining_ = false;
  bool shut_ = false;  // the TLS close notification has been written
  bool in_session_ = false;
  bool resumed_ = false;      // on_resume is due
  bool abort_ = false;        // close() is due
  SteadyTime moved_at_;       // when a byte was last received or sent
  SteadyTime waiting_since_;  // since when the session has consumed none of the pending input
  SteadyTime stage_since_;

  InputBuffer input_;
  Output out_;
  Sender sender_;

  std::vector<char> wire_;  // encrypted input; empty without TLS
  OpenCount count_;
  Peer peer_;
  std::optional<Timer> resume_timer_;  // created by the first resume_at()
};

}  // namespace weir::net
