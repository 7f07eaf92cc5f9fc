#include "net/dialer.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>

#include "net/address.h"
#include "net/descriptor.h"

namespace weir::net {
namespace {

namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;

void set_option(const Descriptor& socket, int level, int name, int value) noexcept {
  ::setsockopt(socket.number(), level, name, &value, sizeof value);
}

// Small messages leave at once, and a peer that has vanished without a word is noticed within half a minute.
void prepare_tcp(const Descriptor& socket) noexcept {
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, 15);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
}

std::string why_not_found(const std::string& host, const ErrorCode& error) {
  if (error == asio::error::host_not_found || error == asio::error::no_data) {
    return "nobody knows the name " + host + "; check its spelling, or give an IP address";
  }
  return "the name " + host + " cannot be looked up: " + error.message() + "; check this machine's resolver";
}

std::string why_not_connected(const Endpoint& endpoint, const ErrorCode& error) {
  switch (error.value()) {
    case ECONNREFUSED:
      return "the connection is refused; check that the server runs and listens there";
    case ENOENT:
      return "there is no such socket; check that the server runs and listens there";
    case EACCES:
    case EPERM:
      return endpoint.unix_socket() ? "this user may not connect; see the socket's owner and mode"
                                    : "a rule of this machine forbids the connection";
    case EMFILE:
    case ENFILE:
      return error.message() + "; raise the limit of open files (ulimit -n)";
    default:
      return "cannot connect: " + error.message() + "; check the address, and what is in between";
  }
}

}  // namespace

Dialer::Dialer(Loop& loop, Endpoint endpoint, Moment deadline)
    : loop_(loop),
      endpoint_(std::move(endpoint)),
      deadline_(deadline),
      resolver_(loop.context().get_executor()),
      timer_(loop.context().get_executor()),
      socket_(loop.context().get_executor()) {}

// Later, on the loop's thread: the resolver's thread should inherit what that one has blocked.
void Dialer::start(Done done) {
  done_ = std::move(done);
  asio::post(loop_.context(), [self = shared_from_this()] {
    if (self->done_) self->find_addresses();
  });
}

void Dialer::cancel() {
  done_ = nullptr;
  resolver_.cancel();
  timer_.cancel();
  ErrorCode ignored;
  socket_.close(ignored);
}

void Dialer::find_addresses() {
  if (endpoint_.unix_socket()) {
    const auto address = Address::parse(endpoint_.text());
    if (!address) {
      finish(tl::unexpected(address.error()));
      return;
    }
    addresses_.emplace_back(address->system(), address->system_size());
    try_next();
    return;
  }
  ErrorCode not_an_ip;
  const auto ip = asio::ip::make_address(endpoint_.host, not_an_ip);
  if (not_an_ip) {
    look_up();
    return;
  }
  addresses_.emplace_back(asio::ip::tcp::endpoint(ip, endpoint_.port));
  try_next();
}

void Dialer::look_up() {
  give_until(deadline_, "the name " + endpoint_.host + " is not looked up in time; check this machine's resolver");
  resolver_.async_resolve(endpoint_.host, std::to_string(endpoint_.port), asio::ip::resolver_base::numeric_service,
                          [self = shared_from_this(), step = step_](const ErrorCode& error, const auto& found) {
                            if (self->stale(step)) return;
                            for (const auto& entry : found) self->addresses_.emplace_back(entry.endpoint());
                            self->problem_ = why_not_found(self->endpoint_.host, error);
                            self->try_next();
                          });
}

void Dialer::try_next() {
  ++step_;
  if (next_ == addresses_.size()) {
    finish(failure(endpoint_.text(), problem_));
    return;
  }
  const auto left = static_cast<std::int64_t>(addresses_.size() - next_);
  const Remote& remote = addresses_[next_++];
  const Moment now = Moment::clock::now();
  give_until(now + (deadline_ - now) / left, "does not answer in time; check the address, and what is in between");
  if (!open_socket(remote)) return;
  socket_.async_connect(remote, [self = shared_from_this(), step = step_](const ErrorCode& error) {
    if (self->stale(step)) return;
    if (error) {
      self->take_failure(why_not_connected(self->endpoint_, error));
    } else {
      self->finish(std::move(self->socket_));
    }
  });
}

// Not by Asio: its sockets would be handed down to child processes.
bool Dialer::open_socket(const Remote& remote) {
  ErrorCode error;
  socket_.close(error);
  const int family = remote.protocol().family();
  Descriptor opened(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!opened.open()) {
    take_failure(why_not_connected(endpoint_, ErrorCode(errno, boost::system::system_category())));
    return false;
  }
  if (family != AF_UNIX) prepare_tcp(opened);
  socket_.assign(remote.protocol(), opened.number(), error);
  if (!error) (void)opened.release();
  if (!error) socket_.non_blocking(true, error);
  if (error) take_failure(why_not_connected(endpoint_, error));
  return !error;
}

void Dialer::give_until(Moment end, std::string late) {
  timer_.expires_at(end);
  timer_.async_wait([self = shared_from_this(), step = step_, late = std::move(late)](const ErrorCode& error) {
    if (!error && !self->stale(step)) self->take_failure(late);
  });
}

void Dialer::take_failure(std::string what) {
  problem_ = std::move(what);
  try_next();
}

void Dialer::finish(Result<StreamSocket> result) {
  const Done done = std::exchange(done_, nullptr);
  timer_.cancel();
  resolver_.cancel();
  done(std::move(result));
}

}  // namespace weir::net
