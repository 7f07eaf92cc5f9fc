#include "net/listen_socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace weir::net {
namespace {

std::string reason(int error) {
  return std::generic_category().message(error);
}

tl::unexpected<Error> refused(const Address& address, int error) {
  const std::string text = address.text();
  switch (error) {
    case EADDRINUSE:
      return failure(text, "address in use: another process listens on " + text + "; stop it, or choose another " +
                               (address.unix_socket() ? "path" : "port"));
    case EADDRNOTAVAIL:
      return failure(text, "this machine has no address " + address.host() + "; `ip address` lists those that it has");
    case EACCES:
    case EPERM:
    case EROFS:
      if (address.unix_socket()) {
        return failure(text, reason(error) + "; choose a folder that this user may write to");
      }
      return failure(text, reason(error) + "; ports below 1024 need CAP_NET_BIND_SERVICE: choose a higher one");
    case ENOENT:
    case ENOTDIR:
      return failure(text, reason(error) + "; make the folder first");
    case EAFNOSUPPORT:
      return failure(text, "this machine has no IPv6; listen on an IPv4 address");
    case EMFILE:
    case ENFILE:
      return failure(text, reason(error) + "; raise the limit of open files (ulimit -n)");
    default:
      return failure(text, "cannot listen: " + reason(error));
  }
}

bool set_option(const Descriptor& socket, int level, int name, int value = 1) noexcept {
  return ::setsockopt(socket.number(), level, name, &value, sizeof value) == 0;
}

Descriptor make_socket(int family) noexcept {
  return Descriptor(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

enum class Sharing : bool { alone, shared };

Result<Descriptor> bind_tcp(const Address& address, Sharing sharing) {
  Descriptor socket = make_socket(address.family());
  // SO_REUSEADDR: connections of a process that has just ended do not hold the port.
  if (!socket.open() || !set_option(socket, SOL_SOCKET, SO_REUSEADDR) ||
      (sharing == Sharing::shared && !set_option(socket, SOL_SOCKET, SO_REUSEPORT)) ||
      ::bind(socket.number(), address.system(), address.system_size()) != 0) {
    return refused(address, errno);
  }
  // Those that are accepted inherit these. Peers that are gone without a word are found by the system.
  set_option(socket, IPPROTO_TCP, TCP_NODELAY);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, 60);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, 15);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, 4);
  return socket;
}

Address bound_address(const Descriptor& socket, const Address& asked) noexcept {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (::getsockname(socket.number(), reinterpret_cast<sockaddr*>(&storage), &size) != 0) return asked;
  return asked.with_port(Address::from_system(storage, size).port());
}

// Whether somebody answers there.
bool listened_on(const Address& address) noexcept {
  const Descriptor probe = make_socket(AF_UNIX);
  return !probe.open() || ::connect(probe.number(), address.system(), address.system_size()) == 0 ||
         errno != ECONNREFUSED;
}

Result<void> remove_stale(const Address& address) {
  struct stat status {};
  const std::string path = address.host();
  if (::lstat(path.c_str(), &status) != 0) return {};
  if (!S_ISSOCK(status.st_mode)) {
    return failure(address.text(), "is there already and is not a socket; remove it, or choose another path");
  }
  if (listened_on(address)) return refused(address, EADDRINUSE);
  if (::unlink(path.c_str()) != 0) return refused(address, errno);
  return {};
}

}  // namespace

Result<ListenSockets> listen_tcp(const Address& address, std::size_t count, int backlog) {
  const Sharing sharing = count > 1 ? Sharing::shared : Sharing::alone;
  Address place = address;
  // With SO_REUSEPORT a second server would get half of the connections without a word: ask once without it.
  if (sharing == Sharing::shared && address.port() != 0) {
    if (auto probe = bind_tcp(address, Sharing::alone); !probe) return tl::unexpected(std::move(probe.error()));
  }
  std::vector<Descriptor> sockets;
  for (std::size_t i = 0; i < count; ++i) {
    auto socket = bind_tcp(place, sharing);
    if (!socket) return tl::unexpected(std::move(socket.error()));
    place = bound_address(*socket, place);
    sockets.push_back(std::move(*socket));
  }
  for (const Descriptor& socket : sockets) {
    if (::listen(socket.number(), backlog) != 0) return refused(place, errno);
  }
  return ListenSockets{std::move(sockets), place};
}

SocketFile::SocketFile(std::string path, dev_t device, ino_t inode)
    : path_(std::move(path)), device_(device), inode_(inode) {}

SocketFile::SocketFile(SocketFile&& other) noexcept
    : path_(std::exchange(other.path_, {})), device_(other.device_), inode_(other.inode_) {}

SocketFile::~SocketFile() {
  struct stat status {};
  if (path_.empty() || ::lstat(path_.c_str(), &status) != 0) return;
  if (status.st_dev == device_ && status.st_ino == inode_) ::unlink(path_.c_str());
}

Result<UnixListenSocket> listen_unix(const Address& address, mode_t mode, int backlog) {
  if (auto removed = remove_stale(address); !removed) return tl::unexpected(std::move(removed.error()));
  const std::string path = address.host();
  Descriptor socket = make_socket(AF_UNIX);
  // The mode before there is a file, so that it is never wider; and again after, since the umask took from it.
  if (!socket.open() || ::fchmod(socket.number(), mode) != 0 ||
      ::bind(socket.number(), address.system(), address.system_size()) != 0) {
    return refused(address, errno);
  }
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return refused(address, errno);
  SocketFile file(path, status.st_dev, status.st_ino);
  if (::chmod(path.c_str(), mode) != 0 || ::listen(socket.number(), backlog) != 0) return refused(address, errno);
  return UnixListenSocket{std::move(socket), std::move(file)};
}

}  // namespace weir::net
