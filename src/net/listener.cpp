#include "net/listener.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>

#include "net/acceptor.h"
#include "net/descriptor.h"

namespace weir::net {

// The file of a unix socket. The destructor removes it unless another file has replaced it.
class SocketFile {
 public:
  SocketFile(std::string path, dev_t device, ino_t inode) : path_(std::move(path)), device_(device), inode_(inode) {}
  SocketFile(const SocketFile&) = delete;
  SocketFile& operator=(const SocketFile&) = delete;
  ~SocketFile() {
    struct stat status{};
    if (::lstat(path_.c_str(), &status) != 0) return;
    if (status.st_dev == device_ && status.st_ino == inode_) ::unlink(path_.c_str());
  }

 private:
  const std::string path_;
  const dev_t device_;
  const ino_t inode_;
};

namespace {

struct ListenSockets {
  std::vector<Descriptor> sockets;
  Address bound;                     // with the port that the system chose if 0 was requested
  std::unique_ptr<SocketFile> file;  // null for TCP
};

std::string reason(int error) {
  return std::generic_category().message(error);
}

tl::unexpected<Error> refused(const Address& address, int error) {
  const std::string text = address.text();
  switch (error) {
    case EADDRINUSE:
      return failure(text, "address in use: another process listens on " + text + "; stop it or choose another " +
                               (address.unix_socket() ? "path" : "port"));
    case EADDRNOTAVAIL:
      return failure(text, "this machine has no address " + address.host() + "; `ip address` lists the available ones");
    case EACCES:
    case EPERM:
    case EROFS:
      if (address.unix_socket()) {
        return failure(text, reason(error) + "; choose a directory that this user can write to");
      }
      return failure(text, reason(error) + "; ports below 1024 require CAP_NET_BIND_SERVICE; choose a higher port");
    case ENOENT:
    case ENOTDIR:
      return failure(text, reason(error) + "; create the directory first");
    case EAFNOSUPPORT:
      return failure(text, "this machine has no IPv6; listen on an IPv4 address");
    case EMFILE:
    case ENFILE:
      return failure(text, reason(error) + "; raise the open file limit (ulimit -n)");
    default:
      return failure(text, "cannot listen: " + reason(error));
  }
}

Descriptor make_socket(int family) noexcept {
  return Descriptor(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

enum class Sharing : bool { alone, shared };

Result<Descriptor> bind_tcp(const Address& address, Sharing sharing) {
  Descriptor socket = make_socket(address.family());
  // With SO_REUSEADDR, lingering connections of an earlier process do not block the port.
  if (!socket.open() || !set_option(socket, SOL_SOCKET, SO_REUSEADDR) ||
      (sharing == Sharing::shared && !set_option(socket, SOL_SOCKET, SO_REUSEPORT)) ||
      ::bind(socket.number(), address.system(), address.system_size()) != 0) {
    return refused(address, errno);
  }
  // Accepted sockets inherit these options.
  prepare_tcp(socket, {.idle = 60, .interval = 15, .probes = 4});
  return socket;
}

// True if another process may listen on the address.
bool listened_on(const Address& address) noexcept {
  const Descriptor probe = make_socket(AF_UNIX);
  return !probe.open() || ::connect(probe.number(), address.system(), address.system_size()) == 0 ||
         errno != ECONNREFUSED;
}

Result<void> remove_stale(const Address& address) {
  struct stat status{};
  const std::string path = address.host();
  if (::lstat(path.c_str(), &status) != 0) return {};
  if (!S_ISSOCK(status.st_mode)) {
    return failure(address.text(), "file exists and is not a socket; remove it or choose another path");
  }
  if (listened_on(address)) return refused(address, EADDRINUSE);
  if (::unlink(path.c_str()) != 0) return refused(address, errno);
  return {};
}

// Opens `count` sockets on one port, over which the system distributes connections (SO_REUSEPORT). Fails if another
// process listens on the address, even if that process would share it.
Result<ListenSockets> listen_tcp(const Address& address, std::size_t count, int backlog) {
  const Sharing sharing = count > 1 ? Sharing::shared : Sharing::alone;
  Address bound = address;
  // With SO_REUSEPORT a second server would silently get half of the connections, so bind once without it.
  if (sharing == Sharing::shared && address.port() != 0) {
    if (auto probe = bind_tcp(address, Sharing::alone); !probe) return tl::unexpected(std::move(probe.error()));
  }
  std::vector<Descriptor> sockets;
  for (std::size_t i = 0; i < count; ++i) {
    auto socket = bind_tcp(bound, sharing);
    if (!socket) return tl::unexpected(std::move(socket.error()));
    bound = bound.bound(socket->number());
    sockets.push_back(std::move(*socket));
  }
  for (const Descriptor& socket : sockets) {
    if (::listen(socket.number(), backlog) != 0) return refused(bound, errno);
  }
  return ListenSockets{std::move(sockets), bound, nullptr};
}

// Replaces a stale socket file. Any other existing file is an error.
Result<ListenSockets> listen_unix(const Address& address, mode_t mode, int backlog) {
  if (auto removed = remove_stale(address); !removed) return tl::unexpected(std::move(removed.error()));
  const std::string path = address.host();
  Descriptor socket = make_socket(AF_UNIX);
  // Sets the mode before bind, so that the file is never more accessible, and again afterwards because the umask
  // reduced it.
  if (!socket.open() || ::fchmod(socket.number(), mode) != 0 ||
      ::bind(socket.number(), address.system(), address.system_size()) != 0) {
    return refused(address, errno);
  }
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) return refused(address, errno);
  ListenSockets listening{{}, address, std::make_unique<SocketFile>(path, status.st_dev, status.st_ino)};
  if (::chmod(path.c_str(), mode) != 0 || ::listen(socket.number(), backlog) != 0) return refused(address, errno);
  listening.sockets.push_back(std::move(socket));
  return listening;
}

}  // namespace

Listener::Listener(Loops& loops, const Address& bound, ListenOptions options, MakeSession make_session)
    : loops_(loops),
      bound_(bound),
      state_(std::make_shared<ListenerState>(std::move(options), std::move(make_session))) {
  for (std::size_t i = 0; i < loops.size(); ++i) {
    auto acceptor = std::make_shared<Acceptor>(loops[i], state_);
    loops[i].run([&] {
      loops[i].every_tick([weak = std::weak_ptr(acceptor)](SteadyTime now) {
        const auto alive = weak.lock();
        if (alive) alive->tick(now);
        return alive != nullptr;
      });
    });
    acceptors_.push_back(std::move(acceptor));
  }
}

Result<std::unique_ptr<Listener>> Listener::open(Loops& loops, const Address& address, ListenOptions options,
                                                 MakeSession make_session) {
  auto listening = address.unix_socket() ? listen_unix(address, options.unix_mode, options.backlog)
                                         : listen_tcp(address, loops.size(), options.backlog);
  if (!listening) return tl::unexpected(std::move(listening.error()));
  std::unique_ptr<Listener> listener(
      new Listener(loops, listening->bound, std::move(options), std::move(make_session)));
  listener->file_ = std::move(listening->file);
  for (std::size_t i = 0; i < listening->sockets.size(); ++i) {
    const auto& acceptor = listener->acceptors_[i];
    auto targets = address.unix_socket() ? listener->acceptors_ : std::vector{acceptor};
    bool watched = false;
    loops[i].run([&] { watched = acceptor->accept_on(std::move(listening->sockets[i]), std::move(targets)); });
    if (!watched) {
      return failure(address.text(), "cannot watch the socket; raise fs.epoll.max_user_watches (sysctl)");
    }
  }
  return listener;
}

Listener::~Listener() {
  stop_accepting();
  on_each_loop(&Acceptor::close_all);
}

void Listener::on_each_loop(void (Acceptor::*work)()) {
  for (std::size_t i = 0; i < acceptors_.size(); ++i) {
    loops_[i].run([&] { (*acceptors_[i].*work)(); });
  }
}

void Listener::stop_accepting() {
  file_.reset();  // comes first, so that a successor can use the path immediately
  on_each_loop(&Acceptor::stop_accepting);
}

ListenerCounts Listener::counts() const noexcept {
  const std::uint64_t refused = state_->refused;  // read first, so that it never exceeds `accepted`
  return {state_->accepted,  refused,          state_->accept_failures, state_->handshake_failures,
          state_->timed_out, state_->overlong, state_->faults,          state_->open};
}

void Listener::start_drain() {
  stop_accepting();
  on_each_loop(&Acceptor::drain);
}

std::size_t Listener::await_drained(SteadyTime deadline) {
  std::unique_lock lock(state_->mutex);
  if (state_->empty.wait_until(lock, deadline, [&] { return state_->open == 0; })) return 0;
  lock.unlock();
  const std::size_t left = state_->open;
  on_each_loop(&Acceptor::close_all);
  return left;
}

std::size_t Listener::drain(Duration within) {
  start_drain();
  return await_drained(SteadyTime::clock::now() + within);
}

}  // namespace weir::net
