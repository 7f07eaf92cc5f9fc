// What a server tells, for `weir top`: at once, and by the second on a thread of its own.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/admin_client.h"
#include "app/top_data.h"
#include "weir/result.h"

namespace weir::app {

// What the endpoints say, as they wrote it.
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

// The messages of a stream of server-sent events.
class EventStreamReader {
 public:
  struct Message {
    std::string event;
    std::string data;
  };

  [[nodiscard]] std::vector<Message> read(std::string_view bytes);
  // Bytes of a message that has not ended.
  [[nodiscard]] std::size_t waiting() const noexcept { return begun_.size(); }

 private:
  std::string begun_;
  Message message_;
};

// Follows the stream. When that breaks it says so, and tries again every two seconds. Its thread goes on after its end,
// perhaps waiting for a server that does not answer: end the process by std::_Exit.
class TopFeed {
 public:
  TopFeed(Access access, TopData data);

  // Can be read when there is something new.
  [[nodiscard]] int descriptor() const noexcept;
  [[nodiscard]] TopData take();
  // Wants more about this limit; empty: about none.
  void look_at(const std::string& limit);

 private:
  struct Shared;
  class Follower;
  std::shared_ptr<Shared> shared_;
};

}  // namespace weir::app
