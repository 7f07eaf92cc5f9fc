#include "store/redis/heartbeat.h"

#include <chrono>
#include <utility>
#include <vector>

#include "store/redis/replies.h"
#include "wire/resp/writer.h"

namespace weir::store::redis {
namespace {

using wire::resp::Reply;
using wire::resp::ReplyType;

// The delay of the first beat: a starting node is counted as soon as it is connected.
constexpr Duration before_the_first = std::chrono::milliseconds(50);

// KEYS: the hash. ARGV: the node's id, its line, and the lifetime of lines in milliseconds. A line starts with the
// store's time; a line that is far from it, in either direction, is stale.
constexpr std::string_view script = R"lua(
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local kept = tonumber(ARGV[3])
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f %s', now, ARGV[2]))
local lines = redis.call('HGETALL', KEYS[1])
local current = {}
for i = 1, #lines, 2 do
  local at = tonumber(string.match(lines[i + 1], '^%d+') or '')
  if at and math.abs(now - at) <= kept then
    current[#current + 1] = lines[i]
    current[#current + 1] = lines[i + 1]
  else
    redis.call('HDEL', KEYS[1], lines[i])
  end
end
redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', now + kept))
return current
)lua";
constexpr std::string_view kept_milliseconds = "10000";

// Within a script, the error for missing permissions depends on the server's version.
bool is_about_rights(std::string_view error) noexcept {
  return error_kind(error) == ErrorKind::no_permission || error.find("ACL failure") != std::string_view::npos ||
         error.find("user executing the script") != std::string_view::npos;
}

}  // namespace

Heartbeat::Heartbeat(net::Loop& loop, RedisStore& store, NodeList& list, HeartbeatCounts& counts, Options options)
    : store_(store),
      list_(list),
      counts_(counts),
      options_(std::move(options)),
      timer_(loop),
      due_(net::SteadyTime::clock::now() + between_beats),
      self_(std::make_shared<Heartbeat*>(this)) {
  timer_.set(net::SteadyTime::clock::now(), [this] { beat(); });
}

Heartbeat::~Heartbeat() {
  *self_ = nullptr;
}

void Heartbeat::beat() {
  const net::SteadyTime now = net::SteadyTime::clock::now();
  const bool is_sent = !in_flight_ && send(false);
  const bool is_first = number_ == 0;
  if (is_sent || now >= due_) {
    if (!is_sent) counts_.failed.raise();
    due_ = now + between_beats;
  }
  timer_.set(is_first ? now + before_the_first : due_, [this] { beat(); });
}

void Heartbeat::begin() {
  if (number_ == 0) beat();
}

bool Heartbeat::send(bool leaves) {
  const std::string text = beat_text({.facts = options_.facts(), .number = number_ + 1, .leaves = leaves});
  std::string command;
  wire::resp::append_command(command, {"EVAL", script, "1", options_.key, list_.id(), text, kept_milliseconds});
  const bool is_sent = store_.try_query(options_.key, command, [self = self_](const Reply* reply) {
    if (*self != nullptr) (*self)->take(reply);
  });
  if (!is_sent) return false;
  ++number_;
  in_flight_ = true;
  counts_.sent.raise();
  return true;
}

void Heartbeat::leave() {
  timer_.cancel();
  static_cast<void>(send(true));
}

void Heartbeat::take(const Reply* reply) {
  in_flight_ = false;
  if (reply == nullptr) return counts_.failed.raise();
  if (!reply->is(ReplyType::array)) return refused(reply->text());
  std::vector<NodeList::Line> lines;
  for (auto at = reply->begin(); at != reply->end(); ++at) {
    const std::string_view id = (*at).text();
    if (++at == reply->end()) break;
    lines.push_back({id, (*at).text()});
  }
  list_.take(lines, net::SteadyTime::clock::now());
  if (std::exchange(is_refused_, false) && options_.log)
    options_.log(Severity::info, "heartbeat: counting nodes again");
  const std::uint32_t before = std::exchange(reported_count_, list_.count());
  if (before != reported_count_ && options_.on_count) options_.on_count(reported_count_);
}

void Heartbeat::refused(std::string_view error) {
  counts_.failed.raise();
  if (std::exchange(is_refused_, true) || !options_.log) return;
  const bool lacks_rights = is_about_rights(error);
  options_.log(Severity::warning, "heartbeat failed, nodes are not counted: " + std::string(error) +
                                      (lacks_rights ? "; docs/shared-store.md lists the required permissions" : ""));
}

}  // namespace weir::store::redis
