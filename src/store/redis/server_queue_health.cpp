// Health of a queue's server: connection, breaker and timeouts.
#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "store/redis/replies.h"
#include "store/redis/script.h"
#include "store/redis/server_queue.h"
#include "wire/resp/writer.h"

namespace weir::store::redis {
namespace {

using wire::resp::append_command;
using wire::resp::Reply;
using wire::resp::ReplyType;

constexpr Duration between_infos = std::chrono::seconds(10);
// A connection without any reply for this long, or for twice the timeout if that is longer, is considered dead.
constexpr Duration max_silence = std::chrono::seconds(1);

Breaker::Options breaker_options(const RedisOptions& options) {
  Breaker::Options breaker = options.breaker;
  breaker.slow = options.timeout;
  return breaker;
}

// Differs between the queues of a process, and between processes.
std::uint64_t seed_of(const void* self) {
  const auto now = static_cast<std::uint64_t>(SteadyTime::clock::now().time_since_epoch().count());
  return (now ^ reinterpret_cast<std::uintptr_t>(self)) * 0x9E3779B97F4A7C15U;
}

}  // namespace

ServerQueue::ServerQueue(net::Loop& loop, const RedisOptions& options, StoreCounts& counts, Owner& owner)
    : loop_(loop),
      options_(options),
      counts_(counts),
      owner_(owner),
      breaker_(breaker_options(options), seed_of(this), SteadyTime::clock::now()),
      departure_(loop),
      timer_(loop),
      self_(std::make_shared<ServerQueue*>(this)) {}

ServerQueue::~ServerQueue() {
  *self_ = nullptr;
  disconnect();
  fail_pending();
}

void ServerQueue::connect(net::Endpoint endpoint) {
  disconnect();
  const SteadyTime now = SteadyTime::clock::now();
  if (breaker_.begin_probe(now)) note_state();
  probing_since_ = now;
  endpoint_ = std::move(endpoint);
  connection_ =
      std::make_unique<ServerConnection>(loop_,
                                         ServerConnection::Options{.endpoint = endpoint_,
                                                                   .user = options_.user,
                                                                   .password = options_.password,
                                                                   .database = options_.database,
                                                                   .tls = options_.tls,
                                                                   .server_name = options_.server_name,
                                                                   .client_name = options_.client_name,
                                                                   .connect_timeout = options_.connect_timeout,
                                                                   .reply_limits = {}},
                                         static_cast<ServerConnection::Owner&>(*this));
  connection_->connect();
}

// The server is the right one if it is identified, is the master, and has accepted the script.
void ServerQueue::on_ready() {
  const SteadyTime now = SteadyTime::clock::now();
  ask_info(now);
  if (options_.sentinel) {
    std::string role;
    append_command(role, {"ROLE"});
    query(role, [this](const Reply* reply) {
      if (reply != nullptr) take_role(*reply);
    });
  }
  load_script();
}

void ServerQueue::ask_info(SteadyTime now) {
  info_at_ = now;
  std::string command;
  append_command(command, {"INFO"});
  query(command, [this](const Reply* reply) {
    if (reply != nullptr) take_info(*reply);
  });
}

void ServerQueue::load_script() {
  script_under_way_ = true;
  std::string command;
  append_command(command, {"SCRIPT", "LOAD", script_source()});
  query(command, [this](const Reply* reply) {
    script_under_way_ = false;
    if (reply != nullptr) take_script(*reply);
  });
}

void ServerQueue::take_info(const Reply& reply) {
  if (reply.is(ReplyType::error)) {
    const StoreError kind = store_error(error_kind(reply.text()));
    return greeted_ ? report_error(kind, reply.text()) : lose(kind, reply.text());
  }
  ServerInfo info = parse_info(reply.text());
  if (info_ && info.evicted_keys > info_->evicted_keys) {
    counts_.evicted_keys.raise(info.evicted_keys - info_->evicted_keys);
  }
  info_ = std::move(info);
  if (const auto wanted = owner_.on_info(*this, *info_); !wanted) return lose(StoreError::refused, wanted.error().what);
  if (greeted_) owner_.on_change(*this);
}

void ServerQueue::take_role(const Reply& reply) {
  if (read_role(reply) == ServerRole::master) return;
  lose(StoreError::read_only, "is not the master, although the Sentinels report it as such");
}

void ServerQueue::take_script(const Reply& reply) {
  if (reply.is(ReplyType::error)) {
    const StoreError kind = store_error(error_kind(reply.text()));
    return greeted_ ? report_error(kind, reply.text()) : lose(kind, reply.text());
  }
  if (greeted_) return;
  greeted_ = true;
  breaker_.alive();
  note_state();
  owner_.on_change(*this);
}

void ServerQueue::on_lost(const Error& error) {
  if (greeted_) return lose(StoreError::lost, error.what);
  const bool unknown = error.what.find("password") != std::string::npos;
  lose(unknown ? StoreError::credentials : StoreError::unreachable, error.what);
}

// The owner is notified after the disconnect, so that nothing more is sent to the server.
void ServerQueue::lose(StoreError kind, std::string_view what) {
  report_error(kind, what);
  breaker_.lost(SteadyTime::clock::now());
  disconnect();
  note_state();
  fail_pending();
  owner_.on_change(*this);
}

// Sent groups are lost.
void ServerQueue::disconnect() {
  greeted_ = paused_ = script_under_way_ = probe_pending_ = false;
  batches_out_ = 0;
  info_.reset();
  if (connection_) connection_->close();
  std::deque<Expected> expected;
  expected.swap(expected_);
  for (Expected& one : expected) {
    if (one.call && !one.call->given_up) fail(std::move(one.call), Failure::lost);
    if (one.handler) one.handler(nullptr);
  }
}

void ServerQueue::tick(SteadyTime now) {
  const Duration silence = std::max(max_silence, 2 * options_.timeout);
  if (greeted_ && !expected_.empty() && now - expected_.front().sent_at > silence) {
    return lose(StoreError::timeout, "stopped answering; reconnecting");
  }
  if (breaker_.state() == BreakerState::open) return probe(now);
  if (breaker_.state() == BreakerState::half_open) {
    if (probe_pending_) return ping(now);
    if (!greeted_ && now - probing_since_ > options_.connect_timeout + max_silence) {
      lose(StoreError::unreachable, "did not accept a connection in time");
    }
    return;
  }
  if (greeted_ && now - info_at_ > between_infos) ask_info(now);
}

// A server that owes a reply is not probed again.
void ServerQueue::probe(SteadyTime now) {
  if (greeted_ && !paused_ && !expected_.empty()) return;
  if (!breaker_.begin_probe(now)) return;
  probing_since_ = now;
  probe_pending_ = greeted_ && !paused_;
  note_state();
  if (!probe_pending_) owner_.on_unconnected(*this);
}

void ServerQueue::ping(SteadyTime now) {
  probe_pending_ = false;
  std::string command;
  append_command(command, {"PING"});
  query(command, [this, now](const Reply* reply) {
    if (reply == nullptr || breaker_.state() != BreakerState::half_open) return;
    const SteadyTime then = SteadyTime::clock::now();
    const bool good = !reply->is(ReplyType::error) && then - now <= options_.timeout;
    good ? breaker_.alive() : breaker_.failed(then);
    note_state();
  });
}

void ServerQueue::arm(SteadyTime deadline) {
  if (deadline >= armed_for_) return;
  armed_for_ = deadline;
  timer_.set(deadline, [this] { expire(); });
}

void ServerQueue::expire() {
  armed_for_ = SteadyTime::max();
  const SteadyTime now = SteadyTime::clock::now();
  std::vector<Group*> unsent;
  std::vector<Group*> sent;
  std::size_t calls = 0;
  pending_.drop_expired(now, unsent);
  SteadyTime next = pending_.oldest();
  for (const Expected& expected : expected_) {
    ScriptCall* const call = expected.call.get();
    if (call == nullptr || call->given_up) continue;
    if (call->oldest > now) {
      next = std::min(next, call->oldest);
      continue;
    }
    call->given_up = true;
    ++calls;
    sent.insert(sent.end(), call->batch.members().begin(), call->batch.members().end());
  }
  arm(next);
  if (unsent.empty() && sent.empty()) return;
  report_error(StoreError::timeout, "did not answer in time");
  breaker_.timed_out(calls, now);
  note_state();
  for (Group* const group : unsent) redis::fail(*group, Failure::unavailable, counts_);
  for (Group* const group : sent) redis::fail(*group, Failure::timeout, counts_);
}

void ServerQueue::report_error(StoreError kind, std::string_view what) {
  counts_.of(kind).raise();
  last_error_ = endpoint_.text() + ' ' + std::string(what);
  counts_.last_error.set(last_error_, std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()));
}

void ServerQueue::note_state() {
  if (breaker_.state() == reported_state_) return;
  const BreakerState before = std::exchange(reported_state_, breaker_.state());
  if (before == BreakerState::closed) counts_.opened.raise();
  if (reported_state_ == BreakerState::closed) counts_.closed.raise();
  owner_.on_change(*this);
  if (reported_state_ == BreakerState::open) fail_pending();
}

}  // namespace weir::store::redis
