// A real redis-server, or a Sentinel, that a test starts, stops, pauses and starts again: on a port and a unix socket
// of its own, in a folder of its own, gone when the test is. From the test's thread. The environment variable
// WEIR_REDIS_SERVER names another program than redis-server.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/address.h"
#include "tests/temporary_folder.h"
#include "wire/resp/reply_parser.h"
#include "wire/resp/writer.h"

namespace weir {

inline sockaddr_in local_address(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

// Returns a port that is not in use, below the ephemeral ports, with room for a cluster's second port, 10,000 above it.
inline std::uint16_t free_port() {
  static std::uint16_t next = static_cast<std::uint16_t>(10'000 + ::getpid() % 1'100 * 10);
  for (;; ++next) {
    const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = local_address(next);
    const void* const any = &address;
    const bool free = ::bind(probe, static_cast<const sockaddr*>(any), sizeof address) == 0;
    ::close(probe);
    if (free) return next++;
  }
}

// A connection through the unix socket.
class RedisConnection {
 public:
  explicit RedisConnection(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    const void* const any = &address;
    const timeval timeout{20, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    connected_ = ::connect(socket_, static_cast<const sockaddr*>(any), sizeof address) == 0;
  }
  RedisConnection(const RedisConnection&) = delete;
  RedisConnection& operator=(const RedisConnection&) = delete;
  ~RedisConnection() { ::close(socket_); }

  [[nodiscard]] bool connected() const { return connected_; }

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;  // rejected before all of it was sent; there is still an answer
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  // Shuts down sending. Redis answers the commands it has, up to 64 KiB, and closes.
  void finish() { ::shutdown(socket_, SHUT_WR); }

  // Reads everything until the server closes.
  std::string receive() {
    std::string answer;
    while (receive_some(answer)) {
    }
    return answer;
  }

  // Returns the reply to the last of `commands` in these bytes, valid until the next call. Throws if the server closes
  // first.
  wire::resp::Reply exchange(std::string_view bytes, std::size_t commands = 1) {
    send(bytes);
    received_.clear();
    parser_ = wire::resp::ReplyParser();
    for (;;) {
      const auto [status, consumed] = parser_.next(received_);
      if (status != wire::resp::ReplyParser::Status::reply) {
        if (!receive_some(received_)) throw std::runtime_error("the server is gone");
      } else if (--commands == 0) {
        return parser_.reply();
      } else {
        received_.erase(0, consumed);
      }
    }
  }
  wire::resp::Reply ask(std::span<const std::string_view> words) {
    std::string bytes;
    wire::resp::append_command(bytes, words);
    return exchange(bytes);
  }
  wire::resp::Reply ask(std::initializer_list<std::string_view> words) { return ask({words.begin(), words.size()}); }

  [[nodiscard]] const std::string& received() const { return received_; }  // the bytes of the reply

 private:
  bool receive_some(std::string& answer) const {
    std::array<char, 65536> piece;
    const ssize_t count = ::recv(socket_, piece.data(), piece.size(), 0);
    if (count > 0) answer.append(piece.data(), static_cast<std::size_t>(count));
    return count > 0;
  }

  int socket_;
  bool connected_ = false;
  std::string received_;
  wire::resp::ReplyParser parser_;
};

class RedisProcess {
 public:
  using Words = std::vector<std::string>;

  // `options` are those of the command line: {"--requirepass", "secret"}. `lines` are those of the configuration file,
  // to which a Sentinel writes. Throws if it does not start.
  explicit RedisProcess(Words options = {}, const std::string& lines = {})
      : port_(free_port()), options_(std::move(options)) {
    std::ofstream(file()) << "port " << port_ << "\nbind 127.0.0.1\ndir " << folder() << "\nlogfile " << folder()
                          << "/log\nunixsocket " << socket_path() << "\nsave \"\"\n"
                          << lines;
    start();
  }
  static RedisProcess sentinel(const std::string& lines) { return RedisProcess({"--sentinel"}, lines); }

  RedisProcess(const RedisProcess&) = delete;
  RedisProcess& operator=(const RedisProcess&) = delete;
  ~RedisProcess() { kill(); }

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] net::Endpoint endpoint() const { return {"127.0.0.1", port_, {}}; }
  [[nodiscard]] std::string place() const { return "127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] std::string folder() const { return folder_.path().string(); }
  [[nodiscard]] std::string socket_path() const { return folder() + "/socket"; }

  // Starts it again with the data that it has kept: none, unless the options say otherwise.
  void start() {
    const char* const named = std::getenv("WEIR_REDIS_SERVER");
    Words words{named == nullptr ? "redis-server" : named, file()};
    words.insert(words.end(), options_.begin(), options_.end());
    launch(words);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!answers()) {
      const bool ended = ::waitpid(process_, nullptr, WNOHANG) != 0;
      if (!ended && std::chrono::steady_clock::now() < deadline) {
        ::poll(nullptr, 0, 1);
        continue;
      }
      if (ended) process_ = 0;
      kill();
      throw std::runtime_error(words[0] + " does not start: script/setup installs redis-server");
    }
  }
  // When this returns, the process and its connections are gone.
  void kill() {
    if (process_ == 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = 0;
  }
  // Suspends the process, but keeps its connections, until resume().
  void pause() const {
    ::kill(process_, SIGSTOP);
    ::waitpid(process_, nullptr, WUNTRACED);
  }
  void resume() const { ::kill(process_, SIGCONT); }

  // Returns the reply; for an array, the texts of its elements, separated by spaces; empty if there is none.
  std::string ask(std::initializer_list<std::string_view> words) const {
    RedisConnection connection(socket_path());
    if (!connection.connected()) return {};
    try {
      return text_of(connection.ask(words));
    } catch (const std::runtime_error&) {
      return {};
    }
  }
  // Sends exactly these bytes on a new connection and returns everything that it receives.
  [[nodiscard]] std::string ask_bytes(std::string_view bytes) const {
    RedisConnection connection(socket_path());
    connection.send(bytes);
    connection.finish();
    return connection.receive();
  }

 private:
  static std::string text_of(const wire::resp::Reply& reply) {
    if (reply.is(wire::resp::ReplyType::integer)) return std::to_string(reply.integer());
    if (!reply.is(wire::resp::ReplyType::array)) return std::string(reply.text());
    std::string all;
    for (const wire::resp::Reply element : reply) all += (all.empty() ? "" : " ") + text_of(element);
    return all;
  }

  [[nodiscard]] std::string file() const { return folder() + "/redis.conf"; }
  [[nodiscard]] bool answers() const { return !ask({"PING"}).empty(); }

  void launch(Words& words) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    process_ = ::fork();
    if (process_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // even if the test crashes
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(nowhere, STDOUT_FILENO);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }

  TemporaryFolder folder_;
  std::uint16_t port_;
  Words options_;
  pid_t process_ = 0;
};

}  // namespace weir
