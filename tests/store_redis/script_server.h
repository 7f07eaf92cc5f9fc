// A real redis-server with the script in it, and one connection to it. For tests, also with a clock of their own.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "store/redis/script.h"
#include "store/redis/script_batch.h"
#include "tests/wire/redis_server.h"
#include "wire/resp/command_writer.h"
#include "wire/resp/reply_parser.h"

namespace weir::store::redis {

class ScriptServer {
 public:
  explicit ScriptServer(std::vector<std::string> options = {}) : server_(std::move(options)) {
    socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    server_.socket_path().copy(address.sun_path, sizeof address.sun_path - 1);
    const void* const any = &address;
    if (::connect(socket_, static_cast<const sockaddr*>(any), sizeof address) != 0) throw std::runtime_error("connect");
    ask({"SCRIPT", "LOAD", script_source()});
    digest_of_expiry_ = std::string(ask({"SCRIPT", "LOAD",
                                         "for _, key in ipairs(KEYS) do local at = redis.call('PEXPIRETIME', key) "
                                         "if at >= 0 and math.floor(ARGV[1] / 1000) > at then redis.call('DEL', key) "
                                         "end end redis.call('SET', 'clock', ARGV[1])"})
                                        .text());
    digest_of_manual_ = std::string(ask({"SCRIPT", "LOAD", source_with_manual_clock()}).text());
  }
  ScriptServer(const ScriptServer&) = delete;
  ScriptServer& operator=(const ScriptServer&) = delete;
  ~ScriptServer() { ::close(socket_); }

  // The reply is good until the next question.
  wire::resp::Reply ask(std::initializer_list<std::string_view> command) {
    std::string bytes;
    wire::resp::append_command(bytes, command);
    return exchange(bytes);
  }

  // Decides the batch by the server's clock, or as if it were `now`. False if the reply cannot be read.
  [[nodiscard]] bool run(ScriptBatch& batch) {
    std::string bytes;
    batch.write(bytes);
    return batch.read(exchange(bytes));
  }
  [[nodiscard]] bool run_at(ScriptBatch& batch, Instant now) {
    set_clock(batch, now);
    const wire::resp::Reply reply = reply_at(batch);
    if (reply.is(wire::resp::ReplyType::error))
      error = reply.text();
    else
      error = received_;
    return batch.read(reply);
  }

  // Sets the clock of the script. The keys of the batch whose time is over by it are removed, as the server does by its
  // own clock.
  void set_clock(const ScriptBatch& batch, Instant now) {
    std::string bytes;
    std::vector<std::string_view> words{"EVALSHA", digest_of_expiry_, ""};
    for (const SharedAsk* const asked : batch.members()) {
      for (const SharedCheck& check : asked->checks) words.push_back(check.key);
    }
    const std::string keys = std::to_string(words.size() - 3);
    const std::string micros = std::to_string(now.time_since_epoch().count());
    words[2] = keys;
    words.push_back(micros);
    wire::resp::append_command(bytes, words);
    exchange(bytes);
  }

  // The reply itself, as if it were what the clock was set to last.
  wire::resp::Reply reply_at(const ScriptBatch& batch) {
    std::string bytes;
    batch.write(bytes);
    bytes.replace(bytes.find(script_digest()), script_digest().size(), digest_of_manual_);
    return exchange(bytes);
  }

  wire::resp::Reply exchange(std::string_view bytes) {
    for (std::string_view unsent = bytes; !unsent.empty();) {
      const ssize_t sent = ::send(socket_, unsent.data(), unsent.size(), MSG_NOSIGNAL);
      if (sent <= 0) throw std::runtime_error("send");
      unsent.remove_prefix(static_cast<std::size_t>(sent));
    }
    received_.clear();
    parser_ = wire::resp::ReplyParser();
    std::array<char, 65536> piece;
    while (parser_.next(received_).status != wire::resp::ReplyParser::Status::reply) {
      const ssize_t read = ::recv(socket_, piece.data(), piece.size(), 0);
      if (read <= 0) throw std::runtime_error("the server is gone");
      received_.append(piece.data(), static_cast<std::size_t>(read));
    }
    return parser_.reply();
  }

  std::string error;  // the last that a batch was answered with

 private:
  // The same script, but for the one line that asks the time.
  static std::string source_with_manual_clock() {
    std::string source(script_source());
    constexpr std::string_view real = "call('TIME')";
    const std::size_t at = source.find(real);
    if (at == std::string::npos || source.find(real, at + 1) != std::string::npos) throw std::runtime_error("one TIME");
    return source.replace(at, real.size(), "{0, call('GET', 'clock')}");
  }

  wire::resp::RedisServer server_;
  int socket_ = -1;
  std::string received_;
  wire::resp::ReplyParser parser_;
  std::string digest_of_manual_;
  std::string digest_of_expiry_;
};

}  // namespace weir::store::redis
