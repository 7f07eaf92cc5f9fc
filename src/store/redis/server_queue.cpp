#include "store/redis/server_queue.h"

#include <algorithm>
#include <utility>

#include "store/redis/replies.h"
#include "wire/resp/writer.h"

namespace weir::store::redis {
namespace {

using wire::resp::append_command;
using wire::resp::Reply;
using wire::resp::ReplyType;

constexpr std::size_t large_batch = 64;
constexpr std::size_t max_batches_in_flight = 4;
constexpr int shares_of_timeout = 8;  // the maximum delay between two batches is the timeout divided by this

SteadyTime the_time() noexcept {
  return SteadyTime::clock::now();
}

Duration since(SteadyTime then, SteadyTime now) noexcept {
  return std::chrono::duration_cast<Duration>(now - then);
}

// True for an error that concerns only some keys. This includes a server out of memory, which rejects only writes: a
// denial writes nothing, so consumers at their limit are still denied by the state on that server.
bool is_of_one_key(ErrorKind kind) noexcept {
  return kind == ErrorKind::foreign || kind == ErrorKind::wrong_type || kind == ErrorKind::edges ||
         kind == ErrorKind::out_of_memory;
}

}  // namespace

bool ServerQueue::submit(Group& group, Slot slot) {
  const SteadyTime now = turn_time();
  const SteadyTime deadline = group.deadline.value_or(now + options_.timeout);
  if (deadline <= now) {
    counts_.turned_away.raise();
    return false;
  }
  if (breaker_.state() != BreakerState::closed) {
    if (!probe_pending_) {
      counts_.turned_away.raise();
      return false;
    }
    probe_pending_ = false;
  }
  pending_.add(group, deadline, slot);
  arm(deadline);
  schedule(now);
  return true;
}

void ServerQueue::enqueue(Group& group, SteadyTime deadline, Slot slot) {
  pending_.add(group, deadline, slot);
  arm(deadline);
  schedule(turn_time());
}

void ServerQueue::enqueue_alone(Group& group, SteadyTime deadline, Slot slot, bool asking) {
  pending_.add_alone(group, deadline, slot, asking);
  arm(deadline);
  schedule(turn_time());
}

void ServerQueue::query(std::string_view command, ReplyHandler handler) {
  connection_->send(command);
  expected_.push_back({.call = nullptr, .handler = std::move(handler), .sent_at = the_time()});
}

bool ServerQueue::try_query(std::string_view command, ReplyHandler handler) {
  if (!greeted_ || paused_ || breaker_.state() != BreakerState::closed) return false;
  query(command, std::move(handler));
  return true;
}

// Returns a time that is read once for all groups submitted in one iteration of the loop, in which a departure is
// scheduled.
SteadyTime ServerQueue::turn_time() noexcept {
  if (!scheduled_) turn_ = the_time();
  return turn_;
}

// Runs when the loop's handler is done, so that everything it submitted is sent together.
void ServerQueue::schedule(SteadyTime now) {
  if (scheduled_) return;
  if (!may_depart(now)) return wait_to_depart();
  scheduled_ = true;
  loop_.post([self = self_] {
    ServerQueue* const queue = *self;
    if (queue == nullptr) return;
    queue->scheduled_ = false;
    queue->depart_or_wait(the_time());
  });
}

bool ServerQueue::may_depart(SteadyTime now) const noexcept {
  if (!greeted_ || paused_ || pending_.empty()) return false;
  if (batches_out_ == 0) return true;
  if (batches_out_ >= max_batches_in_flight) return false;
  return pending_.groups() >= large_batch * batches_out_ || now - departed_at_ >= options_.timeout / shares_of_timeout;
}

void ServerQueue::depart_or_wait(SteadyTime now) {
  may_depart(now) ? depart(now) : wait_to_depart();
}

// Sends the pending groups after the maximum delay, unless a reply triggers that earlier. If the maximum number of
// batches is in flight, only a reply triggers it.
void ServerQueue::wait_to_depart() {
  if (departure_set_ || !greeted_ || paused_ || pending_.empty()) return;
  if (batches_out_ == 0 || batches_out_ >= max_batches_in_flight) return;
  departure_set_ = true;
  departure_.set(departed_at_ + options_.timeout / shares_of_timeout, [this] {
    departure_set_ = false;
    depart_or_wait(the_time());
  });
}

void ServerQueue::depart(SteadyTime now) {
  const std::size_t groups = pending_.groups();
  pending_.take(departing_);
  bytes_.clear();
  for (auto& call : departing_) {
    if (!call->batch.empty()) send(std::move(call), now);
  }
  departing_.clear();
  if (bytes_.empty()) return;
  expected_.back().ends_batch = true;
  ++batches_out_;
  departed_at_ = now;
  counts_.batches.raise();
  counts_.batch_size.add(groups);
  connection_->send(bytes_);
}

void ServerQueue::send(std::unique_ptr<ScriptCall> call, SteadyTime now) {
  if (call->asking) {
    append_command(bytes_, {"ASKING"});
    expected_.push_back({.call = nullptr, .handler = nullptr, .sent_at = now});
  }
  call->batch.write(bytes_);
  call->sent_at = now;
  counts_.evaluations.raise(call->batch.evaluations());
  expected_.push_back({.call = std::move(call), .handler = nullptr, .sent_at = now});
}

void ServerQueue::on_reply(const Reply& reply) {
  if (expected_.empty()) return lose(StoreError::garbled, "sent an unexpected reply");
  Expected expected = std::move(expected_.front());
  expected_.pop_front();
  if (expected.ends_batch) --batches_out_;
  if (expected.call != nullptr) take_evaluation(std::move(expected.call), reply);
  if (expected.handler) expected.handler(&reply);
  depart_or_wait(the_time());
}

void ServerQueue::take_evaluation(std::unique_ptr<ScriptCall> call, const Reply& reply) {
  const SteadyTime now = the_time();
  const Duration took = since(call->sent_at, now);
  counts_.round_trip.add(static_cast<std::uint64_t>(took.count()));
  if (call->given_up) {
    counts_.late_answers.raise();  // it was reported to the breaker when it was abandoned
    return pending_.recycle(std::move(call));
  }
  if (reply.is(ReplyType::error)) return take_error(std::move(call), reply.text(), now);
  if (!call->batch.read(reply)) {
    report_error(StoreError::garbled, "sent an invalid reply to the script");
    breaker_.failed(now);
    note_state();
    return fail(std::move(call), Failure::disagreement);  // not repeated: the script has run
  }
  note_clock(call->batch.members().front()->now, took);
  // Slowness is measured from the time at which the oldest group started to wait.
  breaker_.answered(since(std::min(call->sent_at, call->oldest - options_.timeout), now), now);
  answer(std::move(call));
  note_state();
}

void ServerQueue::take_error(std::unique_ptr<ScriptCall> call, std::string_view text, SteadyTime now) {
  const ErrorKind kind = error_kind(text);
  if (kind == ErrorKind::no_script) return repeat_with_script(std::move(call), now);
  if (owner_.on_refused(*this, *call, text)) {
    counts_.sent_again.raise();
    const bool elsewhere = kind == ErrorKind::moved || kind == ErrorKind::ask || kind == ErrorKind::try_again;
    elsewhere ? breaker_.alive() : breaker_.failed(now);
    pending_.recycle(std::move(call));
    return note_state();
  }
  report_error(store_error(kind), text);
  if (is_of_one_key(kind)) return take_error_of_one_key(std::move(call));
  breaker_.failed(now);
  note_state();
  fail(std::move(call), Failure::refused);
}

// Handles an error caused by one key. The script changed nothing, so the groups of the call are sent again one by one,
// and only the group with that key is rejected.
void ServerQueue::take_error_of_one_key(std::unique_ptr<ScriptCall> call) {
  if (breaker_.state() == BreakerState::half_open) breaker_.alive();
  note_state();
  const auto members = call->batch.members();
  if (members.size() == 1 || breaker_.state() == BreakerState::open) {
    return fail(std::move(call), Failure::refused);
  }
  counts_.sent_again.raise();
  for (std::size_t i = 0; i < members.size(); ++i) {
    enqueue_alone(*members[i], call->deadlines[i], call->slot, call->asking);
  }
  pending_.recycle(std::move(call));
}

// The script and the evaluation are sent back to back, without waiting for a reply in between.
void ServerQueue::repeat_with_script(std::unique_ptr<ScriptCall> call, SteadyTime now) {
  if (!script_under_way_) load_script();
  bytes_.clear();
  send(std::move(call), now);
  expected_.back().ends_batch = true;
  ++batches_out_;
  counts_.sent_again.raise();
  connection_->send(bytes_);
}

void ServerQueue::answer(std::unique_ptr<ScriptCall> call) {
  bool disagrees = false;
  for (Group* const group : call->batch.members()) {
    disagrees = disagrees || group->failure == Failure::disagreement;
    counts_.of(group->failure).raise();
    group->callback->answered(*group);
  }
  pending_.recycle(std::move(call));
  if (disagrees)
    report_error(StoreError::disagreement,
                 "disagrees with the decision replayed here; check whether another program writes to its keys");
}

void ServerQueue::fail(std::unique_ptr<ScriptCall> call, Failure failure) {
  for (Group* const group : call->batch.members()) redis::fail(*group, failure, counts_);
  pending_.recycle(std::move(call));
}

// Callbacks may submit again; such groups become pending later.
void ServerQueue::fail_pending() {
  std::vector<std::unique_ptr<ScriptCall>> calls;
  pending_.take(calls);
  for (auto& call : calls) fail(std::move(call), Failure::unavailable);
}

// The server's clock was read at some time between sending and now.
void ServerQueue::note_clock(Instant theirs, Duration took) {
  const auto ours = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()) - took / 2;
  counts_.clock_offset.set((theirs - ours).count());
}

}  // namespace weir::store::redis
