// Sockets that listen, before anything is accepted on them.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <vector>

#include "net/address.h"
#include "net/descriptor.h"
#include "weir/result.h"

namespace weir::net {

struct ListenSockets {
  std::vector<Descriptor> sockets;
  Address bound;  // with the port that the system chose, if 0 was asked for
};

// As many sockets on one port, among which the system spreads what comes (SO_REUSEPORT). An address on which somebody
// else listens is refused, even if he would share it.
[[nodiscard]] Result<ListenSockets> listen_tcp(const Address& address, std::size_t count, int backlog);

// The file of a unix socket: removed at the end, unless another has taken its place.
class SocketFile {
 public:
  SocketFile(std::string path, dev_t device, ino_t inode);
  SocketFile(SocketFile&& other) noexcept;
  SocketFile& operator=(SocketFile&&) = delete;
  ~SocketFile();

 private:
  std::string path_;  // empty: moved from
  dev_t device_;
  ino_t inode_;
};

struct UnixListenSocket {
  Descriptor socket;
  SocketFile file;
};

// A socket file on which nobody listens any more is replaced; anything else in its place is an error.
[[nodiscard]] Result<UnixListenSocket> listen_unix(const Address& address, mode_t mode, int backlog);

}  // namespace weir::net
