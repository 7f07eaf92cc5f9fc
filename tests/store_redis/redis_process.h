// A real redis-server that a test starts, stops, pauses and starts again: on a port of its own, in a folder of its own.
// From the test's thread.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/endpoint.h"
#include "tests/net/client.h"
#include "tests/temporary_folder.h"
#include "wire/resp/command_writer.h"
#include "wire/resp/reply_parser.h"

namespace weir::store::redis {

inline sockaddr_in local_address(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

// One that nobody listens on. Below the ephemeral ones; with room for a cluster's second port, 10,000 above.
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

class RedisProcess {
 public:
  // `options` as on the command line. `file`: a configuration file of its own, which a Sentinel writes to.
  explicit RedisProcess(std::vector<std::string> options = {}, std::string file = {})
      : port_(free_port()), options_(std::move(options)), file_(std::move(file)) {
    start();
  }
  RedisProcess(const RedisProcess&) = delete;
  RedisProcess& operator=(const RedisProcess&) = delete;
  ~RedisProcess() { kill(); }

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] net::Endpoint endpoint() const { return {"127.0.0.1", port_, {}}; }
  [[nodiscard]] std::string folder() const { return folder_.path().string(); }

  // Again, with what it remembers: nothing, unless the options say otherwise.
  void start() {
    std::vector<std::string> words{"redis-server"};
    if (!file_.empty()) words.push_back(file_);
    words.insert(words.end(), options_.begin(), options_.end());
    words.insert(words.end(), {"--port", std::to_string(port_), "--dir", folder(), "--logfile", folder() + "/log"});
    if (file_.empty()) words.insert(words.end(), {"--save", ""});
    launch(words);
    if (!net::eventually([&] { return connects(); })) throw std::runtime_error("redis-server does not start");
  }
  void kill() {
    if (process_ == 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = 0;
  }
  void pause() {
    ::kill(process_, SIGSTOP);
    int status = 0;
    ::waitpid(process_, &status, WUNTRACED);
  }
  void resume() { ::kill(process_, SIGCONT); }

  // Its reply, of an array the texts of its elements with spaces between; empty if there is none.
  std::string ask(std::initializer_list<std::string_view> words) const {
    std::string bytes;
    wire::resp::append_command(bytes, words);
    const int socket = connect();
    std::string answer;
    wire::resp::ReplyParser parser;
    std::array<char, 65536> piece;
    static_cast<void>(::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL));
    for (ssize_t count = 0; (count = ::recv(socket, piece.data(), piece.size(), 0)) > 0;) {
      answer.append(piece.data(), static_cast<std::size_t>(count));
      if (parser.next(answer).status != wire::resp::ReplyParser::Status::need_more) break;
    }
    ::close(socket);
    return answer.empty() ? answer : text_of(parser.reply());
  }

 private:
  static std::string text_of(const wire::resp::Reply& reply) {
    if (reply.is(wire::resp::ReplyType::integer)) return std::to_string(reply.integer());
    if (!reply.is(wire::resp::ReplyType::array)) return std::string(reply.text());
    std::string all;
    for (const wire::resp::Reply element : reply) all += (all.empty() ? "" : " ") + text_of(element);
    return all;
  }

  [[nodiscard]] int connect() const {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const timeval patience{5, 0};
    ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    const sockaddr_in address = local_address(port_);
    const void* const any = &address;
    static_cast<void>(::connect(socket, static_cast<const sockaddr*>(any), sizeof address));
    return socket;
  }
  [[nodiscard]] bool connects() const { return !ask({"PING"}).empty(); }

  void launch(std::vector<std::string>& words) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    process_ = ::fork();
    if (process_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // also when the test crashes
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(nowhere, STDOUT_FILENO);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }

  TemporaryFolder folder_;
  std::uint16_t port_;
  std::vector<std::string> options_;
  std::string file_;
  pid_t process_ = 0;
};

}  // namespace weir::store::redis
