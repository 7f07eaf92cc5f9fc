#include "app/top_feed.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

#include "app/options.h"
#include "net/descriptor.h"

namespace weir::app {
namespace {

constexpr unsigned seconds_between_questions = 5;
constexpr auto pause_before_retry = std::chrono::seconds(2);
constexpr std::size_t max_message_size = std::size_t{8} << 20;

constexpr auto denied_target = "/v1/denied?count=20";
constexpr auto events_target = "/v1/events?count=100";

}  // namespace

Result<TopAnswers> ask_top(const Access& access) {
  TopAnswers answers;
  const std::pair<const char*, std::string*> targets[] = {
      {"/v1/status", &answers.status},  {"/v1/history", &answers.history}, {"/v1/limits", &answers.limits},
      {denied_target, &answers.denied}, {events_target, &answers.events},  {"/v1/cluster", &answers.cluster}};
  for (const auto& [target, text] : targets) {
    auto answer = admin_request(access, Right::read, target);
    if (!answer) return tl::unexpected(answer.error());
    *text = std::move(answer->text);
  }
  return answers;
}

// admin_request has validated the JSON.
void read_answers(const TopAnswers& answers, TopData& data) {
  (void)read_status(answers.status, data);
  (void)read_history(answers.history, data);
  (void)read_limits(answers.limits, data);
  (void)read_denied(answers.denied, data);
  (void)read_events(answers.events, data);
  (void)read_cluster(answers.cluster, data);
}

std::vector<EventStreamReader::Message> EventStreamReader::read(std::string_view bytes) {
  pending_ += bytes;
  std::vector<Message> messages;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = pending_.find('\n', begin)) != std::string::npos; begin = end + 1) {
    std::string_view line = std::string_view(pending_).substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with("event: ")) message_.event = line.substr(7);
    if (line.starts_with("data: ")) message_.data = line.substr(6);
    if (line.empty() && !message_.event.empty()) messages.push_back(std::exchange(message_, {}));
  }
  pending_.erase(0, begin);
  return messages;
}

struct TopFeed::Shared {
  std::mutex mutex;
  TopData latest;         // guarded by the mutex
  std::string looked_at;  // guarded by the mutex
  net::Descriptor updated{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
};

// The work of the feed's thread.
class TopFeed::Follower {
 public:
  Follower(std::shared_ptr<Shared> shared, Access access, TopData data)
      : shared_(std::move(shared)), access_(std::move(access)), data_(std::move(data)) {}

  [[noreturn]] void run() {
    while (true) {
      data_.problem = follow();
      publish();
      std::this_thread::sleep_for(pause_before_retry);
    }
  }

 private:
  // Follows the stream until it ends. Returns the reason.
  std::string follow() {
    auto stream = admin_stream(access_, "/v1/stream");
    if (!stream) return stream.error().message();
    EventStreamReader reader;
    unsigned seconds = 0;
    while (true) {
      const auto bytes = stream->read();
      if (!bytes) return bytes.error().message();
      if (bytes->empty()) return "the server closed the connection";
      for (const auto& message : reader.read(*bytes)) {
        if (message.event == "end") return "the server stopped";
        if (message.event != "second") continue;
        if (auto taken = take_second(message.data, seconds); !taken) return taken.error().message();
        seconds = (seconds + 1) % seconds_between_questions;
      }
      if (reader.waiting() > max_message_size) return "message of the stream too long";
    }
  }

  // Reads a message of the stream. Every few seconds, right after a message, it also requests the data that the stream
  // lacks, so that both describe the same second.
  Result<void> take_second(const std::string& message, unsigned seconds) {
    if (!read_second(message, data_))
      return failure(access_.address.text(), "the live stream sent a message that is not JSON");
    if (seconds == 0) {
      const auto answers = ask_top(access_);
      if (!answers) return tl::unexpected(answers.error());
      read_answers(*answers, data_);
    }
    look_closer();
    data_.problem.clear();
    publish();
    return {};
  }

  void look_closer() {
    const std::string limit = [&] {
      const std::lock_guard lock(shared_->mutex);
      return shared_->looked_at;
    }();
    data_.detail.reset();
    if (limit.empty()) return;
    // CL.THROTTLE and limits that left the policy have no details.
    const auto answer = admin_request(access_, Right::read, "/v1/limits/" + percent_encoded(limit));
    if (answer) (void)read_limit(answer->text, data_);
  }

  void publish() {
    {
      const std::lock_guard lock(shared_->mutex);
      shared_->latest = data_;
    }
    (void)eventfd_write(shared_->updated.number(), 1);
  }

  std::shared_ptr<Shared> shared_;
  Access access_;
  TopData data_;
};

TopFeed::TopFeed(Access access, TopData data) : shared_(std::make_shared<Shared>()) {
  std::thread([follower = Follower(shared_, std::move(access), std::move(data))]() mutable {
    follower.run();
  }).detach();
}

int TopFeed::descriptor() const noexcept {
  return shared_->updated.number();
}

TopData TopFeed::take() {
  eventfd_t count = 0;
  (void)eventfd_read(shared_->updated.number(), &count);
  const std::lock_guard lock(shared_->mutex);
  return shared_->latest;
}

void TopFeed::look_at(const std::string& limit) {
  const std::lock_guard lock(shared_->mutex);
  shared_->looked_at = limit;
}

}  // namespace weir::app
