#include "net/acceptor.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "net/connection.h"
#include "net/tls_stream.h"

namespace weir::net {
namespace {

constexpr int accepted_at_once = 64;  // then the connections that are there have their turn

// Of one client, not of ours: the next may be fine.
bool is_of_one_client(int error) noexcept {
  return error == EINTR || error == ECONNABORTED || error == EPROTO || error == EPERM;
}

Peer peer_at(const Address& address) {
  Peer peer;
  peer.unix_socket = address.unix_socket();
  if (!peer.unix_socket) {
    peer.address = address.host();
    peer.port = address.port();
  }
  return peer;
}

}  // namespace

Acceptor::Acceptor(Loop& loop, std::shared_ptr<ListenerState> listener)
    : loop_(loop), listener_(std::move(listener)), listening_(loop.poller(), *this) {}

bool Acceptor::accept_on(Descriptor listening, std::vector<std::shared_ptr<Acceptor>> targets) {
  targets_ = std::move(targets);
  return listening_.take(std::move(listening), Interest::input);
}

void Acceptor::on_ready(Readiness /*input*/) {
  const auto self = shared_from_this();
  const Waiting waiting = accept_waiting();
  resting_ = waiting == Waiting::unknown;
  if (waiting == Waiting::some) listening_.ask_for_turn();
}

// If there are no descriptors, or no memory, what waits stays in the backlog.
Acceptor::Waiting Acceptor::accept_waiting() {
  for (int i = 0; i < accepted_at_once; ++i) {
    sockaddr_storage storage{};
    socklen_t size = sizeof storage;
    Descriptor socket(
        ::accept4(listening_.number(), reinterpret_cast<sockaddr*>(&storage), &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.open()) {
      ++listener_->accepted;
      pass_on({std::move(socket), Address::from_system(storage, size), OpenCount(listener_)});
      continue;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) return Waiting::none;
    if (is_of_one_client(errno)) continue;
    ++listener_->accept_failures;
    return Waiting::unknown;
  }
  return Waiting::some;
}

void Acceptor::pass_on(AcceptedSocket accepted) {
  if (!accepted.count.within_limit()) {
    ++listener_->refused;
    return;
  }
  Acceptor& target = *targets_[next_target_++ % targets_.size()];
  if (&target == this) {
    open_connection(std::move(accepted));
    return;
  }
  target.loop_.post([to = target.shared_from_this(), shared = std::make_shared<AcceptedSocket>(std::move(accepted))] {
    to->open_connection(std::move(*shared));
  });
}

void Acceptor::open_connection(AcceptedSocket accepted) {
  std::unique_ptr<TlsStream> tls;
  if (const auto& context = listener_->options.tls) {
    tls = TlsStream::make(*context->current());
    if (!tls) {
      ++listener_->accept_failures;
      return;
    }
  }
  auto connection = std::make_shared<Connection>(shared_from_this(), std::move(accepted.count), peer_at(accepted.from),
                                                 std::move(tls));
  if (!connection->take(std::move(accepted.socket))) {
    ++listener_->accept_failures;
    return;
  }
  connection->place = connections_.size();
  connections_.push_back(connection);
  connection->start();
  if (draining_) connection->drain();
}

void Acceptor::forget(Connection& connection) {
  const std::size_t place = connection.place;
  std::swap(connections_[place], connections_.back());
  connections_[place]->place = place;
  connections_.pop_back();
}

void Acceptor::stop_accepting() {
  for (int i = 0; i < SOMAXCONN / accepted_at_once && listening_.open(); ++i) {
    if (accept_waiting() != Waiting::some) break;
  }
  listening_.close();
  targets_.clear();
}

// Backwards, since a connection that closes is replaced by the last one. A session may close others, too: then some
// of them have their turn at the next tick.
void Acceptor::tick(SteadyTime now) {
  if (std::exchange(resting_, false)) listening_.ask_for_turn();
  for (std::size_t i = connections_.size(); i-- > 0;) {
    if (i < connections_.size()) std::shared_ptr(connections_[i])->tick(now);
  }
}

void Acceptor::drain() {
  draining_ = true;
  const auto all = connections_;
  for (const auto& connection : all) connection->drain();
}

void Acceptor::close_all() {
  draining_ = true;
  const auto all = connections_;
  for (const auto& connection : all) connection->close();
}

}  // namespace weir::net
