#include "net/dialer.h"

#include <sys/socket.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "net/resolver.h"

namespace weir::net {
namespace {

std::string connect_error(const Endpoint& endpoint, int error) {
  const std::string message = std::system_category().message(error);
  switch (error) {
    case ECONNREFUSED:
      return "connection refused; check that the server is running and listening there";
    case ENOENT:
      return "no such socket; check that the server is running and listening there";
    case EACCES:
    case EPERM:
      return endpoint.unix_socket() ? "permission denied; check the socket's owner and mode"
                                    : "permission denied; check this machine's firewall";
    case EMFILE:
    case ENFILE:
      return message + "; raise the open file limit (ulimit -n)";
    default:
      return "cannot connect: " + message + "; check the address and the network";
  }
}

}  // namespace

Dialer::Dialer(Loop& loop, Endpoint endpoint, SteadyTime deadline)
    : loop_(loop), endpoint_(std::move(endpoint)), deadline_(deadline), timer_(loop), socket_(loop.poller(), *this) {}

// Starts on the loop's thread, so that the resolver's thread inherits its signal mask.
void Dialer::start(Done done) {
  done_ = std::move(done);
  loop_.post([self = shared_from_this()] {
    if (self->done_) self->find_addresses();
  });
}

void Dialer::cancel() {
  done_ = nullptr;
  timer_.cancel();
  socket_.close();
}

void Dialer::find_addresses() {
  if (endpoint_.unix_socket()) {
    const auto address = Address::parse(endpoint_.text());
    if (!address) {
      finish(tl::unexpected(address.error()));
      return;
    }
    addresses_.push_back(*address);
  } else {
    addresses_ = Resolver::read_ip(endpoint_.host, endpoint_.port).addresses;
  }
  addresses_.empty() ? look_up() : try_next();
}

void Dialer::look_up() {
  set_timeout(deadline_, "resolving " + endpoint_.host + " timed out; check this machine's DNS resolver");
  loop_.resolver().look_up(endpoint_.host, endpoint_.port, weak_from_this(),
                           [weak = weak_from_this(), step = step_](const Resolver::Found& found) {
                             const auto self = weak.lock();
                             if (!self || self->stale(step)) return;
                             self->addresses_ = found.addresses;
                             self->problem_ = found.problem;
                             self->try_next();
                           });
}

void Dialer::try_next() {
  ++step_;
  socket_.close();
  if (next_ == addresses_.size()) {
    finish(failure(endpoint_.text(), problem_));
    return;
  }
  const auto left = static_cast<std::int64_t>(addresses_.size() - next_);
  const SteadyTime now = SteadyTime::clock::now();
  set_timeout(now + (deadline_ - now) / left, "connection timed out; check the address and the network");
  connect(addresses_[next_++]);
}

// on_ready reports success and failure, even if the connection is established immediately.
void Dialer::connect(const Address& remote) {
  Descriptor socket(::socket(remote.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (socket.open() && !remote.unix_socket()) prepare_tcp(socket, {.idle = 15, .interval = 5, .probes = 3});
  const bool started =
      socket.open() && (::connect(socket.number(), remote.system(), remote.system_size()) == 0 || errno == EINPROGRESS);
  if (!started || !socket_.take(std::move(socket), Interest::output)) fail_attempt(connect_error(endpoint_, errno));
}

void Dialer::on_ready(Readiness /*output*/) {
  const auto self = shared_from_this();
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(socket_.number(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  if (error == 0) {
    finish(socket_.release());
  } else {
    fail_attempt(connect_error(endpoint_, error));
  }
}

void Dialer::set_timeout(SteadyTime end, std::string late) {
  timer_.set(end, [this, late = std::move(late)] {
    const auto self = shared_from_this();
    fail_attempt(late);
  });
}

void Dialer::fail_attempt(std::string what) {
  problem_ = std::move(what);
  try_next();
}

void Dialer::finish(Result<Descriptor> result) {
  const Done done = std::exchange(done_, nullptr);
  timer_.cancel();
  done(std::move(result));
}

}  // namespace weir::net
