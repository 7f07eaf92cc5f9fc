#include "net/acceptor.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "net/connection.h"
#include "net/tls_stream.h"

namespace weir::net {
namespace {

constexpr int accept_batch = 64;  // after this many, open connections are served first

// True if the error concerns only one client: the next accept may succeed.
bool is_client_error(int error) noexcept {
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
  accept_paused_ = waiting == Waiting::unknown;
  if (waiting == Waiting::some) listening_.ask_for_turn();
}

// Without free descriptors or memory, pending connections stay in the backlog.
Acceptor::Waiting Acceptor::accept_waiting() {
  for (int i = 0; i < accept_batch; ++i) {
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
    if (is_client_error(errno)) continue;
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
  connection->index = connections_.size();
  connections_.push_back(connection);
  connection->start();
  if (draining_) connection->drain();
}

void Acceptor::forget(Connection& connection) {
  const std::size_t index = connection.index;
  std::swap(connections_[index], connections_.back());
  connections_[index]->index = index;
  connections_.pop_back();
}

void Acceptor::stop_accepting() {
  for (int i = 0; i < SOMAXCONN / accept_batch && listening_.open(); ++i) {
    if (accept_waiting() != Waiting::some) break;
  }
  listening_.close();
  targets_.clear();
}

// Iterates backwards because the last connection takes the index of one that closes. If a session closes others, some
// connections are visited only at the next tick.
void Acceptor::tick(SteadyTime now) {
  if (std::exchange(accept_paused_, false)) listening_.ask_for_turn();
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
