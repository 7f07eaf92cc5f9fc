// A real Redis server or sentinel for a test, on a port of its own, gone when the test is.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/temporary_folder.h"

namespace weir::server {

// Nobody listens there, unless somebody takes it in the meantime.
inline std::uint16_t free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  void* const any = &address;
  socklen_t length = sizeof address;
  const bool bound = ::bind(socket, static_cast<sockaddr*>(any), length) == 0 &&
                     ::getsockname(socket, static_cast<sockaddr*>(any), &length) == 0;
  ::close(socket);
  if (!bound) throw std::runtime_error("no free port");
  return ntohs(address.sin_port);
}

class RedisProcess {
 public:
  using Words = std::vector<std::string>;

  static RedisProcess server(Words options = {}) { return RedisProcess({}, options, "Ready to accept connections"); }

  // It has been given these lines of configuration.
  static RedisProcess sentinel(const std::string& lines) { return RedisProcess(lines, {"--sentinel"}, "+monitor"); }

  RedisProcess(const RedisProcess&) = delete;
  RedisProcess& operator=(const RedisProcess&) = delete;
  ~RedisProcess() {
    if (process_ > 0) {
      ::kill(process_, SIGKILL);
      ::waitpid(process_, nullptr, 0);
    }
    ::close(log_);
  }

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::string place() const { return "127.0.0.1:" + std::to_string(port_); }
  void pause() const { ::kill(process_, SIGSTOP); }

  // The first line of what the server answers; an inline command.
  [[nodiscard]] std::string ask(const std::string& command) const {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const void* const any = &address;
    std::string answer;
    const std::string line = command + "\r\n";
    if (::connect(socket, static_cast<const sockaddr*>(any), sizeof address) == 0 &&
        ::send(socket, line.data(), line.size(), MSG_NOSIGNAL) > 0) {
      std::array<char, 4096> piece;
      const ssize_t count = ::recv(socket, piece.data(), piece.size(), 0);
      if (count > 0) answer.assign(piece.data(), static_cast<std::size_t>(count));
    }
    ::close(socket);
    return answer.substr(0, answer.find("\r\n"));
  }

 private:
  RedisProcess(const std::string& lines, const Words& options, std::string_view ready) : port_(free_port()) {
    const std::string file = (folder_.path() / "redis.conf").string();
    std::ofstream(file) << "port " << port_ << "\nbind 127.0.0.1\nsave \"\"\ndir " << folder_.path().string() << "\n"
                        << lines;
    Words words{"redis-server", file};
    words.insert(words.end(), options.begin(), options.end());
    start(words);
    if (!await(ready)) throw std::runtime_error("redis-server does not start: script/setup installs it");
  }

  void start(Words& words) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    log_ = ends[0];
    process_ = ::fork();
    if (process_ != 0) {
      ::close(ends[1]);
      return;
    }
    ::dup2(ends[1], STDOUT_FILENO);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // also when the test crashes
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }

  // Its log says so.
  [[nodiscard]] bool await(std::string_view ready) const {
    std::string log;
    std::array<char, 4096> piece;
    pollfd readable{log_, POLLIN, 0};
    while (::poll(&readable, 1, 10'000) == 1) {
      const ssize_t count = ::read(log_, piece.data(), piece.size());
      if (count <= 0) return false;
      log.append(piece.data(), static_cast<std::size_t>(count));
      if (log.find(ready) != std::string::npos) return true;
    }
    return false;
  }

  const TemporaryFolder folder_;
  std::uint16_t port_;
  pid_t process_ = 0;
  int log_ = -1;  // what the server says
};

}  // namespace weir::server
