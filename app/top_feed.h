// The connection of `weir top` to a server: one-time requests, and a stream on its own thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/admin_client.h"
#include "app/top_data.h"
#include "weir/result.h"

namespace weir::app {

// The responses of the endpoints.
struct TopAnswers {
  std::string status;
  std::string history;
  std::string limits;
  std::string denied;
  std::string events;
  std::string cluster;
};

[[nodiscard]] Result<TopAnswers> ask_top(const Access& access);
void read_answers(const TopAnswers& answers, TopData& data);

// Parses a stream of server-sent events.
class EventStreamReader {
 public:
  struct Message {
    std::string event;
    std::string data;
  };

  [[nodiscard]] std::vector<Message> read(std::string_view bytes);
  // Returns the size of the incomplete message.
  [[nodiscard]] std::size_t waiting() const noexcept { return pending_.size(); }

 private:
  std::string pending_;
  Message message_;
};

// Follows the stream on a detached thread, and reconnects every two seconds after an error. The thread outlives this
// object and may block on the server: end the process with std::_Exit.
class TopFeed {
 public:
  TopFeed(Access access, TopData data);

  // Returns a descriptor that is readable when there is new data.
  [[nodiscard]] int descriptor() const noexcept;
  [[nodiscard]] TopData take();
  // Requests details of this limit, or of none if the name is empty.
  void look_at(const std::string& limit);

 private:
  struct Shared;
  class Follower;
  std::shared_ptr<Shared> shared_;
};

}  // namespace weir::app
