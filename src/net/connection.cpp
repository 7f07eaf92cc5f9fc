#include "net/connection.h"

#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <utility>

namespace weir::net {
namespace {

bool passed(SteadyTime since, Duration limit, SteadyTime now) noexcept {
  return std::chrono::duration_cast<Duration>(now - since) >= limit;
}

}  // namespace

Connection::Connection(std::shared_ptr<Acceptor> acceptor, OpenCount count, Peer peer, std::unique_ptr<TlsStream> tls)
    : acceptor_(std::move(acceptor)),
      loop_(acceptor_->loop()),
      options_(acceptor_->listener().options.connection),
      socket_(loop_.poller(), *this),
      tls_(std::move(tls)),
      until_eagain_(peer.unix_socket),
      input_(options_.input_bound),
      out_(options_.output_bound),
      wire_(tls_ ? TlsStream::wire_size : 0),
      count_(std::move(count)),
      peer_(std::move(peer)) {}

bool Connection::take(Descriptor socket) {
  return socket_.take(std::move(socket), Interest::input);
}

void Connection::enter(Stage stage) noexcept {
  stage_ = stage;
  stage_since_ = moved_at_ = loop_.now();
}

void Connection::start() {
  enter(Stage::handshake);
  if (!tls_) open_session();
  advance();
}

void Connection::open_session() {
  if (tls_) {
    peer_.tls = true;
    peer_.certificate_subject = tls_->client_subject();
    peer_.application = tls_->application();
  }
  enter(Stage::open);
  const bool made =
      call([this] { session_ = acceptor_->listener().make_session(peer_, Link(weak_from_this(), loop_)); });
  if (made && !session_) close();
  if (made && draining_) drain();
}

// Does everything that is possible now. Further input is read in the next round.
void Connection::advance() {
  if (in_session_) return;
  if (stage_ == Stage::handshake) continue_handshake();
  if (stage_ == Stage::open) {
    do flush();
    while (offer());
    settle();
  }
  if (readable_ && accepts_input()) socket_.ask_for_turn();
}

void Connection::continue_handshake() {
  if (shut_) {  // the handshake has failed
    finish();
    return;
  }
  const auto state = tls_->handshake();
  flush();
  if (stage_ == Stage::closed) return;
  if (state == TlsStream::Handshake::done) open_session();
  if (state == TlsStream::Handshake::failed) {
    ++acceptor_->listener().handshake_failures;
    finish();  // lingers so that the TLS alert reaches the peer
  }
}

// Calls the session if there is a reason to. Returns false if there is none or if the connection has closed.
bool Connection::offer() {
  if (stage_ != Stage::open || out_.closing_) return false;
  if (std::exchange(resumed_, false)) {
    out_.paused_ = false;
    return call([this] { session_->on_resume(out_); });
  }
  if (out_.paused_ || out_.full()) return false;
  if (tls_ && !decrypt()) return false;
  if (!seen_ && !input_.pending().empty()) {
    std::size_t consumed = 0;
    if (!call([&] { consumed = session_->on_input(input_.pending(), out_); })) return false;
    input_.consume(consumed);
    if (consumed > 0) waiting_since_ = loop_.now();
    seen_ = !out_.full() && !out_.paused_;  // otherwise it gets the rest once output drains or resumes
    return true;
  }
  if (!peer_done_ || end_reported_) return false;
  end_reported_ = true;
  return call([this] { session_->on_end(out_); });
}

// Returns false if the connection has closed.
bool Connection::decrypt() {
  const std::size_t before = input_.pending().size();
  const auto reading = tls_->read(input_);
  note_input(before);
  if (reading == TlsStream::Reading::failed) {
    close();
    return false;
  }
  if (reading == TlsStream::Reading::ended) peer_done_ = true;
  return true;
}

void Connection::note_input(std::size_t pending_before) noexcept {
  if (input_.pending().size() == pending_before) return;
  if (pending_before == 0) waiting_since_ = loop_.now();
  got_input_ = true;
  seen_ = false;
}

// Returns false if the connection has closed.
template <class Work>
bool Connection::call(const Work& work) {
  in_session_ = true;
  try {
    work();
  } catch (...) {
    ++acceptor_->listener().faults;
    abort_ = true;
  }
  in_session_ = false;
  if (abort_) close();
  return stage_ != Stage::closed;
}

// Closes the connection if it must end after the session has done what it can.
void Connection::settle() {
  if (stage_ != Stage::open) return;
  if (seen_ && input_.at_bound() && !out_.closing_) {
    ++acceptor_->listener().overlong;
    close();
    return;
  }
  if (!out_.paused_ && (end_reported_ || (draining_ && can_close()))) out_.closing_ = true;
  if (out_.closing_ && all_sent()) finish();
}

// True if the session is idle and no input is pending in the buffer or the socket.
bool Connection::can_close() {
  int unread = 0;
  ::ioctl(socket_.number(), FIONREAD, &unread);
  if (unread > 0) readable_ = true;
  return input_.pending().empty() && session_->idle() && unread == 0;
}

// Shuts down sending, then lingers for the peer to close: closing a socket with unread input would make the system
// reset the connection, and the peer would lose the last response.
void Connection::finish() {
  if (tls_ && !std::exchange(shut_, true)) {
    tls_->shut();
    flush();
  }
  if (stage_ == Stage::closed || !all_sent()) return;
  const std::unique_ptr<Session> ended = std::move(session_);
  if (peer_done_) {
    close();
    return;
  }
  ::shutdown(socket_.number(), SHUT_WR);
  input_.consume(input_.pending().size());
  enter(Stage::lingering);
}

void Connection::close() {
  if (in_session_) {
    abort_ = true;
    return;
  }
  if (stage_ == Stage::closed) return;
  const auto self = shared_from_this();
  stage_ = Stage::closed;
  socket_.close();
  const std::unique_ptr<Session> ended = std::move(session_);
  acceptor_->forget(*this);
  count_.end();
}

void Connection::send(std::string_view bytes) {
  if (!session_) return;
  out_.append(bytes);
  advance();
}

void Connection::resume() {
  if (!session_) return;
  resumed_ = true;
  advance();
}

void Connection::resume_at(SteadyTime when) {
  if (!session_) return;
  if (!resume_timer_) resume_timer_.emplace(loop_);
  resume_timer_->set(when, [this] {
    const auto self = shared_from_this();
    resume();
  });
}

void Connection::drain() {
  draining_ = true;
  if (stage_ != Stage::open || !session_) return;
  if (!out_.closing_ && !call([this] { session_->on_drain(out_); })) return;
  advance();
}

bool Connection::accepts_input() const noexcept {
  if (peer_done_ || stage_ == Stage::closed) return false;
  return stage_ != Stage::open || !(out_.closing_ || out_.paused_ || out_.full());
}

void Connection::on_ready(Readiness ready) {
  const auto self = shared_from_this();
  readable_ |= ready.input;
  until_eagain_ |= ready.until_eagain;
  if (ready.output && std::exchange(writing_, false)) {
    flush();
    if (!writing_) socket_.want(Interest::input);
    advance();
  }
  if (readable_ && accepts_input()) read();
}

void Connection::read() {
  const std::span<char> room = tls_ ? std::span<char>(wire_) : input_.room();
  const ssize_t count = ::recv(socket_.number(), room.data(), room.size(), 0);
  const int error = count < 0 ? errno : 0;
  readable_ = std::cmp_equal(count, room.size()) || (count > 0 && until_eagain_) || error == EINTR;
  if (count == 0) peer_done_ = true;
  if ((error != 0 && error != EAGAIN && error != EINTR) || (peer_done_ && stage_ != Stage::open)) {
    close();
    return;
  }
  if (count > 0) take_input(static_cast<std::size_t>(count));
  advance();
}

void Connection::take_input(std::size_t count) {
  if (stage_ == Stage::lingering) return;
  moved_at_ = loop_.now();
  if (tls_) {
    tls_->receive(std::span(wire_).first(count));
  } else {
    const std::size_t before = input_.pending().size();
    input_.fill(count);
    note_input(before);
  }
}

// Sends the rest when the socket becomes writable, if it does not accept everything now.
void Connection::flush() {
  if (writing_ || stage_ == Stage::closed || (!tls_ && all_sent())) return;
  const Sender::Progress progress = sender_.send(socket_.number(), tls_.get(), out_.bytes_);
  out_.in_flight_ = sender_.unsent();
  if (progress.moved) moved_at_ = loop_.now();
  if (progress.state == Sender::State::blocked) {
    writing_ = true;
    socket_.want(Interest::both);
  } else if (progress.state != Sender::State::done) {
    close();
  }
}

void Connection::tick(SteadyTime now) {
  if (stage_ == Stage::closed) return;
  if (overdue(now)) {
    if (stage_ != Stage::lingering) ++acceptor_->listener().timed_out;
    close();
    return;
  }
  if (stage_ != Stage::open || out_.closing_) return;
  if (!call([&] { session_->on_tick(now, out_); })) return;
  if (!out_.bytes_.empty() || out_.closing_ || resumed_ || draining_) advance();
}

bool Connection::overdue(SteadyTime now) const {
  const Timeouts& limits = options_.timeouts;
  if (stage_ == Stage::handshake) return passed(stage_since_, limits.handshake, now);
  if (stage_ == Stage::lingering) return passed(stage_since_, limits.linger, now);
  if (!all_sent()) return passed(moved_at_, limits.unread, now);
  if (out_.paused_) return false;
  if (!got_input_) return passed(stage_since_, limits.first_bytes, now);
  if (!input_.pending().empty()) return passed(waiting_since_, limits.incomplete, now);
  return passed(moved_at_, limits.idle, now);
}

bool Link::alive() const {
  const auto connection = connection_.lock();
  return connection && connection->has_session();
}

void Link::send(std::string_view bytes) const {
  if (const auto connection = connection_.lock()) connection->send(bytes);
}

void Link::resume() const {
  if (const auto connection = connection_.lock()) connection->resume();
}

void Link::resume_at(SteadyTime when) const {
  if (const auto connection = connection_.lock()) connection->resume_at(when);
}

void Link::close() const {
  if (const auto connection = connection_.lock()) connection->close();
}

void Link::post(std::function<void()> work) const {
  if (loop_ == nullptr) return;
  loop_->post([link = *this, work = std::move(work)] {
    // Keeps the connection, and so the session, alive during the call.
    const auto connection = link.connection_.lock();
    if (connection && connection->has_session()) work();
  });
}

}  // namespace weir::net
