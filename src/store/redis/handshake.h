// What is said to a Redis server before anything else: who we are, and which database is meant. Bytes in and out, no
// socket. Used once; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "wire/resp/reply.h"

namespace weir::store::redis {

struct Credentials {
  std::string user;      // empty: Redis's default user
  std::string password;  // empty: none is given
};

class Handshake {
 public:
  // `client_name` without spaces; empty: none.
  Handshake(const Credentials& credentials, const std::string& client_name, int database);

  // All of them: they go out together.
  [[nodiscard]] const std::string& commands() const noexcept { return commands_; }

  // The next reply. What is wrong, and which setting to look at; empty: nothing. Never shows the password, which
  // servers may repeat in what they say.
  [[nodiscard]] std::string take(const wire::resp::Reply& reply);

  [[nodiscard]] bool done() const noexcept { return taken_ == steps_.size(); }

 private:
  enum class Step : std::uint8_t { authenticate, introduce, select };

  [[nodiscard]] std::string refusal(Step step, std::string_view error) const;

  std::string commands_;
  std::vector<Step> steps_;
  std::size_t taken_ = 0;
  std::string user_;
  int database_;
};

}  // namespace weir::store::redis
