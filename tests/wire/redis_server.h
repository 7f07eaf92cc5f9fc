// A real redis-server for a test: its own, on a unix socket in a folder of its own, gone when the test is.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::wire::resp {

class RedisConnection {
 public:
  explicit RedisConnection(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    const void* const any = &address;
    connected_ = ::connect(socket_, static_cast<const sockaddr*>(any), sizeof address) == 0;
  }
  RedisConnection(const RedisConnection&) = delete;
  RedisConnection& operator=(const RedisConnection&) = delete;
  ~RedisConnection() { ::close(socket_); }

  [[nodiscard]] bool connected() const { return connected_; }

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;  // refused before it was all said: there is an answer yet
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  // Says that nothing follows. Redis answers what it has, up to 64 KiB, and closes.
  void finish() { ::shutdown(socket_, SHUT_WR); }

  // All that comes until the server closes.
  std::string receive() {
    std::string answer;
    std::array<char, 65536> piece;
    for (ssize_t read = 0; (read = ::recv(socket_, piece.data(), piece.size(), 0)) > 0;) {
      answer.append(piece.data(), static_cast<std::size_t>(read));
    }
    return answer;
  }

 private:
  int socket_;
  bool connected_ = false;
};

class RedisServer {
 public:
  // `options` as on the command line: {"--requirepass", "secret"}. Throws when it does not come up.
  explicit RedisServer(std::vector<std::string> options = {}) {
    std::string folder = (std::filesystem::temp_directory_path() / "weir-redis-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = folder;
    std::vector<std::string> words{"redis-server", "--port", "0",     "--unixsocket", socket_path(),
                                   "--save",       "",       "--dir", folder};
    words.insert(words.end(), options.begin(), options.end());
    start(words);
    if (await_ready()) return;
    stop();
    throw std::runtime_error("redis-server does not start: script/setup installs it");
  }
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;
  ~RedisServer() { stop(); }

  [[nodiscard]] std::string socket_path() const { return folder_ + "/socket"; }

  // It is gone, with its connections, when this returns.
  void kill() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = 0;
  }

  // It stands still, with its connections, until resume().
  void pause() const {
    ::kill(process_, SIGSTOP);
    ::waitpid(process_, nullptr, WUNTRACED);
  }
  void resume() const { ::kill(process_, SIGCONT); }

  // All that a connection gets that says this and no more.
  [[nodiscard]] std::string ask(std::string_view bytes) const {
    RedisConnection connection(socket_path());
    connection.send(bytes);
    connection.finish();
    return connection.receive();
  }

 private:
  void start(std::vector<std::string>& words) {
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

  // Its log says so. Ends early when the server does.
  [[nodiscard]] bool await_ready() const {
    std::string log;
    std::array<char, 4096> piece;
    pollfd readable{log_, POLLIN, 0};
    while (::poll(&readable, 1, 10'000) == 1) {
      const ssize_t count = ::read(log_, piece.data(), piece.size());
      if (count <= 0) return false;
      log.append(piece.data(), static_cast<std::size_t>(count));
      if (log.find("ready to accept connections") != std::string::npos) return true;
    }
    return false;
  }

  void stop() {
    kill();
    ::close(log_);
    std::filesystem::remove_all(folder_);
  }

  std::string folder_;
  pid_t process_ = 0;
  int log_ = -1;  // what the server says
};

}  // namespace weir::wire::resp
