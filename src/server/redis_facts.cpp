#include "server/redis_facts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "policy/words.h"
#include "wire/resp/writer.h"

namespace weir::server {

using store::redis::ServerRole;

namespace {

using wire::resp::Reply;
using wire::resp::ReplyType;

constexpr std::size_t pings = 9;
constexpr std::string_view no_script = "0000000000000000000000000000000000000000";

std::int64_t leading_number(std::string_view text) noexcept {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

void take_info(const Reply& reply, RedisFacts& facts) {
  if (reply.is(ReplyType::error)) {
    facts.forbidden = reply.text();
  } else {
    facts.info = store::redis::parse_info(reply.text());
  }
}

// The reply of a master is: role, replication offset, replicas.
void take_role(const Reply& reply, RedisFacts& facts) {
  if (reply.is(ReplyType::error) && facts.forbidden.empty()) facts.forbidden = reply.text();
  const auto role = store::redis::read_role(reply);
  if (!role) return;
  facts.role = *role;
  if (*role == ServerRole::master && reply.size() > 2) facts.replicas = reply[2].size();
}

Result<void> measure(RedisProbe& probe, RedisFacts& facts) {
  std::array<Duration, pings> times{};
  for (Duration& time : times) {
    if (auto sent = probe.send({"PING"}, [](const Reply&) {}); !sent) return sent;
    time = probe.round_trip();
  }
  std::nth_element(times.begin(), times.begin() + pings / 2, times.end());
  facts.round_trip = times[pings / 2];
  Instant theirs{};
  const auto take = [&](const Reply& reply) {
    if (!reply.is(ReplyType::array) || reply.size() != 2) return;
    theirs = Instant(std::chrono::seconds(leading_number(reply[0].text())) + Duration(leading_number(reply[1].text())));
  };
  if (auto sent = probe.send({"TIME"}, take); !sent) return sent;
  if (theirs != Instant{}) facts.clock_ahead = theirs - probe.sent_at();
  return {};
}

// Tries the commands that decisions need, in forms that change nothing.
Result<void> try_rights(RedisProbe& probe, const std::string& prefix, RedisFacts& facts) {
  const auto take = [&](const Reply& reply) {
    const bool refused = reply.is(ReplyType::error) && reply.text().starts_with("NOPERM");
    if (refused && facts.forbidden.empty()) facts.forbidden = reply.text();
  };
  const std::string key = prefix + "{check}";
  auto sent = probe.send({"SCRIPT", "LOAD", "return 1"}, take);
  if (sent) sent = probe.send({"EVALSHA", no_script, "1", key}, take);
  if (sent) sent = probe.send({"MGET", key}, take);
  // The commands of a heartbeat. HSET with an odd argument count fails, but only after the permission check.
  if (sent) sent = probe.send({"EVAL", "return 1", "1", key}, take);
  if (sent) sent = probe.send({"HSET", key, "field", "value", "field"}, take);
  if (sent) sent = probe.send({"HGETALL", key}, take);
  if (sent) sent = probe.send({"HDEL", key, "field"}, take);
  // The commands of receipts. ZADD with an odd argument count fails, like HSET.
  if (sent) sent = probe.send({"HMGET", key, "field"}, take);
  if (sent) sent = probe.send({"ZADD", key, "1", "member", "2"}, take);
  if (sent) sent = probe.send({"ZREM", key, "member"}, take);
  if (sent) sent = probe.send({"ZCARD", key}, take);
  if (sent) sent = probe.send({"ZRANGE", key, "0", "0"}, take);
  if (sent) sent = probe.send({"ZREVRANGE", key, "0", "0"}, take);
  if (sent) sent = probe.send({"ZRANGEBYSCORE", key, "0", "0"}, take);
  return sent;
}

}  // namespace

RedisProbe::RedisProbe(net::Loop& loop, store::redis::ServerConnection::Options options)
    : loop_(loop), where_(options.endpoint.text()), timeout_(options.connect_timeout) {
  Owner& owner = *this;
  loop_.run([&] { connection_ = std::make_unique<store::redis::ServerConnection>(loop_, std::move(options), owner); });
}

RedisProbe::~RedisProbe() {
  loop_.run([this] { connection_.reset(); });
}

Result<void> RedisProbe::connect() {
  return wait([this] { connection_->connect(); });
}

Result<void> RedisProbe::send(std::initializer_list<std::string_view> command, const Take& take) {
  std::string bytes;
  wire::resp::append_command(bytes, command);
  return wait([&] {
    take_ = &take;
    sent_ = std::chrono::steady_clock::now();
    connection_->send(bytes);
  });
}

// The connection has the same timeout and a better error message, so this waits a little longer.
Result<void> RedisProbe::wait(const std::function<void()>& begin) {
  {
    const std::lock_guard guard(mutex_);
    if (error_) return tl::unexpected(*error_);
    done_ = false;
  }
  loop_.run(begin);
  std::unique_lock lock(mutex_);
  const auto max_wait = timeout_ + std::chrono::milliseconds(200);
  if (!changed_.wait_for(lock, max_wait, [this] { return done_; })) {
    lock.unlock();
    loop_.run([this] { connection_->close(); });  // later replies are not accepted
    lock.lock();
    if (!done_) error_ = Error{where_, "no answer within " + policy::duration_text(timeout_)};
  }
  if (error_) return tl::unexpected(*error_);
  return {};
}

void RedisProbe::on_ready() {
  finish({});
}

void RedisProbe::on_reply(const wire::resp::Reply& reply) {
  if (take_ == nullptr) return;
  round_trip_ = std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - sent_);
  sent_at_ = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()) - round_trip_ / 2;
  (*std::exchange(take_, nullptr))(reply);
  finish({});
}

void RedisProbe::on_lost(const Error& error) {
  finish(error);
}

void RedisProbe::finish(std::optional<Error> error) {
  const std::lock_guard guard(mutex_);
  if (error) error_ = std::move(error);
  done_ = true;
  changed_.notify_one();
}

Result<RedisFacts> gather_facts(RedisProbe& probe, const std::string& prefix) {
  RedisFacts facts;
  auto sent = probe.send({"INFO"}, [&](const Reply& reply) { take_info(reply, facts); });
  if (sent) sent = probe.send({"ROLE"}, [&](const Reply& reply) { take_role(reply, facts); });
  if (sent) sent = measure(probe, facts);
  if (sent && facts.role != ServerRole::sentinel) sent = try_rights(probe, prefix, facts);
  if (!sent) return tl::unexpected(sent.error());
  return facts;
}

bool is_too_old(std::string_view version) noexcept {
  const std::size_t dot = version.find('.');
  const std::int64_t major = leading_number(version);
  const std::int64_t minor = dot == std::string_view::npos ? 0 : leading_number(version.substr(dot + 1));
  return major < 6 || (major == 6 && minor < 2);
}

}  // namespace weir::server
