#include "net/gate.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "net/connection.h"
#include "net/tls_stream.h"

namespace weir::net {
namespace {

constexpr int accepted_at_once = 64;  // then the connections that are there have their turn

// Of one caller, not of ours: the next may be fine.
bool passing(int error) noexcept {
  return error == EINTR || error == ECONNABORTED || error == EPROTO || error == EPERM;
}

Peer peer_of(const Arrival& arrival) {
  Peer peer;
  peer.unix_socket = arrival.from.unix_socket();
  if (!peer.unix_socket) {
    peer.address = arrival.from.host();
    peer.port = arrival.from.port();
  }
  return peer;
}

}  // namespace

Gate::Gate(Loop& loop, std::shared_ptr<Reception> reception)
    : loop_(loop), reception_(std::move(reception)), acceptor_(loop.poller(), *this) {}

bool Gate::accept_on(Descriptor listening, std::vector<std::shared_ptr<Gate>> targets) {
  targets_ = std::move(targets);
  return acceptor_.take(std::move(listening), Interest::input);
}

void Gate::on_ready(Readiness /*input*/) {
  const auto self = shared_from_this();
  const Accepted accepted = accept_waiting();
  resting_ = accepted == Accepted::no_more;
  if (accepted == Accepted::some) acceptor_.ask_for_turn();
}

// If there are no descriptors, or no memory, those who wait stay in the backlog.
Gate::Accepted Gate::accept_waiting() {
  for (int i = 0; i < accepted_at_once; ++i) {
    sockaddr_storage storage{};
    socklen_t size = sizeof storage;
    Descriptor socket(
        ::accept4(acceptor_.number(), reinterpret_cast<sockaddr*>(&storage), &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.open()) {
      ++reception_->accepted;
      receive({std::move(socket), Address::from_system(storage, size), Seat(reception_)});
      continue;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) return Accepted::all;
    if (passing(errno)) continue;
    ++reception_->accept_failures;
    return Accepted::no_more;
  }
  return Accepted::some;
}

void Gate::receive(Arrival arrival) {
  if (!arrival.seat.within_bounds()) {
    ++reception_->refused;
    return;
  }
  Gate& target = *targets_[next_target_++ % targets_.size()];
  if (&target == this) {
    admit(std::move(arrival));
    return;
  }
  target.loop_.post([gate = target.shared_from_this(), arrived = std::make_shared<Arrival>(std::move(arrival))] {
    gate->admit(std::move(*arrived));
  });
}

void Gate::admit(Arrival arrival) {
  Peer peer = peer_of(arrival);
  std::unique_ptr<TlsStream> tls;
  if (const auto& context = reception_->options.tls) {
    tls = TlsStream::make(*context->current());
    if (!tls) {
      ++reception_->accept_failures;
      return;
    }
  }
  auto connection =
      std::make_shared<Connection>(shared_from_this(), std::move(arrival.seat), std::move(peer), std::move(tls));
  if (!connection->take(std::move(arrival.socket))) {
    ++reception_->accept_failures;
    return;
  }
  connection->place = connections_.size();
  connections_.push_back(connection);
  connection->start();
  if (draining_) connection->drain();
}

void Gate::forget(Connection& connection) {
  const std::size_t place = connection.place;
  std::swap(connections_[place], connections_.back());
  connections_[place]->place = place;
  connections_.pop_back();
}

void Gate::stop_accepting() {
  for (int i = 0; i < SOMAXCONN / accepted_at_once && acceptor_.open(); ++i) {
    if (accept_waiting() != Accepted::some) break;
  }
  acceptor_.close();
  targets_.clear();
}

// Backwards, since a connection that closes is replaced by the last one. A session may close others, too: then some
// of them have their turn at the next tick.
void Gate::tick(Moment now) {
  if (std::exchange(resting_, false)) acceptor_.ask_for_turn();
  for (std::size_t i = connections_.size(); i-- > 0;) {
    if (i < connections_.size()) std::shared_ptr(connections_[i])->tick(now);
  }
}

void Gate::drain() {
  draining_ = true;
  const auto all = connections_;
  for (const auto& connection : all) connection->drain();
}

void Gate::close_all() {
  draining_ = true;
  const auto all = connections_;
  for (const auto& connection : all) connection->close();
}

}  // namespace weir::net
