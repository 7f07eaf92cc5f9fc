#include "store/redis/lane.h"

#include <algorithm>
#include <utility>

#include "store/redis/error_kind.h"
#include "store/redis/store_error.h"
#include "wire/resp/command_writer.h"

namespace weir::store::redis {
namespace {

using wire::resp::append_command;
using wire::resp::Reply;
using wire::resp::ReplyType;

constexpr std::size_t large_batch = 64;
constexpr std::size_t most_batches_out = 4;
constexpr int shares_of_timeout = 8;  // a batch leaves one of these after the one before it at the latest

Moment the_time() noexcept {
  return Moment::clock::now();
}

Duration since(Moment then, Moment now) noexcept {
  return std::chrono::duration_cast<Duration>(now - then);
}

bool is_of_one_key(ErrorKind kind) noexcept {
  return kind == ErrorKind::foreign || kind == ErrorKind::wrong_type;
}

}  // namespace

bool Lane::ask(SharedAsk& ask, Slot slot) {
  const Moment now = turn_time();
  const Moment deadline = ask.deadline.value_or(now + options_.timeout);
  if (deadline <= now) {
    counts_.turned_away.raise();
    return false;
  }
  if (breaker_.state() != BreakerState::closed) {
    if (!probe_wanted_) {
      counts_.turned_away.raise();
      return false;
    }
    probe_wanted_ = false;
  }
  gathering_.add(ask, deadline, slot);
  arm(deadline);
  schedule(now);
  return true;
}

void Lane::gather(SharedAsk& ask, Moment deadline, Slot slot) {
  gathering_.add(ask, deadline, slot);
  arm(deadline);
  schedule(turn_time());
}

void Lane::gather_alone(SharedAsk& ask, Moment deadline, Slot slot, bool asking) {
  gathering_.add_alone(ask, deadline, slot, asking);
  arm(deadline);
  schedule(turn_time());
}

void Lane::query(std::string_view command, Told told) {
  connection_->send(command);
  expected_.push_back({.flight = nullptr, .told = std::move(told), .sent_at = the_time()});
}

// Read once for all that is asked in the turn of the loop that a departure is scheduled in.
Moment Lane::turn_time() noexcept {
  if (!scheduled_) turn_ = the_time();
  return turn_;
}

// When the loop's handler is done: then all that it brought goes together.
void Lane::schedule(Moment now) {
  if (scheduled_) return;
  if (!may_depart(now)) return wait_to_depart();
  scheduled_ = true;
  loop_.post([self = self_] {
    Lane* const lane = *self;
    if (lane == nullptr) return;
    lane->scheduled_ = false;
    lane->depart_or_wait(the_time());
  });
}

bool Lane::may_depart(Moment now) const noexcept {
  if (!greeted_ || held_ || gathering_.empty()) return false;
  if (batches_out_ == 0) return true;
  if (batches_out_ >= most_batches_out) return false;
  return gathering_.asks() >= large_batch * batches_out_ || now - departed_at_ >= options_.timeout / shares_of_timeout;
}

void Lane::depart_or_wait(Moment now) {
  may_depart(now) ? depart(now) : wait_to_depart();
}

// For the share of the timeout to be over, unless a reply is sooner. With as many batches out as may be, or without a
// server, there is only a reply to wait for.
void Lane::wait_to_depart() {
  if (waits_to_depart_ || !greeted_ || held_ || gathering_.empty()) return;
  if (batches_out_ == 0 || batches_out_ >= most_batches_out) return;
  waits_to_depart_ = true;
  departure_.set(departed_at_ + options_.timeout / shares_of_timeout, [this] {
    waits_to_depart_ = false;
    depart_or_wait(the_time());
  });
}

void Lane::depart(Moment now) {
  const std::size_t asks = gathering_.asks();
  gathering_.take(departing_);
  bytes_.clear();
  for (auto& flight : departing_) {
    if (!flight->batch.empty()) send(std::move(flight), now);
  }
  departing_.clear();
  if (bytes_.empty()) return;
  expected_.back().ends_batch = true;
  ++batches_out_;
  departed_at_ = now;
  counts_.batches.raise();
  counts_.batch_size.add(asks);
  connection_->send(bytes_);
}

void Lane::send(std::unique_ptr<Flight> flight, Moment now) {
  if (flight->asking) {
    append_command(bytes_, {"ASKING"});
    expected_.push_back({.flight = nullptr, .told = nullptr, .sent_at = now});
  }
  flight->batch.write(bytes_);
  flight->sent_at = now;
  counts_.evaluations.raise(flight->batch.evaluations());
  expected_.push_back({.flight = std::move(flight), .told = nullptr, .sent_at = now});
}

void Lane::on_reply(const Reply& reply) {
  if (expected_.empty()) return lose(StoreError::garbled, "answers what it was not asked");
  Expected expected = std::move(expected_.front());
  expected_.pop_front();
  if (expected.ends_batch) --batches_out_;
  if (expected.flight != nullptr) take_evaluation(std::move(expected.flight), reply);
  if (expected.told) expected.told(&reply);
  depart_or_wait(the_time());
}

void Lane::take_evaluation(std::unique_ptr<Flight> flight, const Reply& reply) {
  const Moment now = the_time();
  const Duration took = since(flight->sent_at, now);
  counts_.round_trip.add(static_cast<std::uint64_t>(took.count()));
  if (flight->given_up) {
    counts_.late_answers.raise();  // the breaker knew of it when it was given up
    return gathering_.put_down(std::move(flight));
  }
  if (reply.is(ReplyType::error)) return take_error(std::move(flight), reply.text(), now);
  if (!flight->batch.read(reply)) {
    complain(StoreError::garbled, "answers an evaluation with what is no answer to it");
    breaker_.failed(now);
    note_state();
    return fail(std::move(flight), StoreFailure::disagreement);  // the script has run
  }
  note_clock(flight->batch.members().front()->now, took);
  // Slow is what its oldest ask has waited, here and there.
  breaker_.answered(since(std::min(flight->sent_at, flight->oldest - options_.timeout), now), now);
  answer(std::move(flight));
  note_state();
}

void Lane::take_error(std::unique_ptr<Flight> flight, std::string_view text, Moment now) {
  const ErrorKind kind = error_kind(text);
  if (kind == ErrorKind::no_script) return repeat_with_script(std::move(flight), now);
  if (owner_.on_refused(*this, *flight, text)) {
    counts_.sent_again.raise();
    const bool elsewhere = kind == ErrorKind::moved || kind == ErrorKind::ask || kind == ErrorKind::try_again;
    elsewhere ? breaker_.alive() : breaker_.failed(now);
    gathering_.put_down(std::move(flight));
    return note_state();
  }
  complain(store_error(kind), text);
  if (is_of_one_key(kind)) return take_error_of_one_key(std::move(flight));
  breaker_.failed(now);
  note_state();
  fail(std::move(flight), StoreFailure::refused);
}

// Nothing was done. Of several asks each goes anew and alone, so that only the one that has the key is refused.
void Lane::take_error_of_one_key(std::unique_ptr<Flight> flight) {
  if (breaker_.state() == BreakerState::half_open) breaker_.alive();
  note_state();
  const auto members = flight->batch.members();
  if (members.size() == 1 || breaker_.state() == BreakerState::open) {
    return fail(std::move(flight), StoreFailure::refused);
  }
  counts_.sent_again.raise();
  for (std::size_t i = 0; i < members.size(); ++i) {
    gather_alone(*members[i], flight->deadlines[i], flight->slot, flight->asking);
  }
  gathering_.put_down(std::move(flight));
}

// The script and the evaluation follow each other on the connection: no answer has to be waited for between them.
void Lane::repeat_with_script(std::unique_ptr<Flight> flight, Moment now) {
  if (!script_under_way_) load_script();
  bytes_.clear();
  send(std::move(flight), now);
  expected_.back().ends_batch = true;
  ++batches_out_;
  counts_.sent_again.raise();
  connection_->send(bytes_);
}

void Lane::answer(std::unique_ptr<Flight> flight) {
  bool disagrees = false;
  for (SharedAsk* const ask : flight->batch.members()) {
    disagrees = disagrees || ask->failure == StoreFailure::disagreement;
    counts_.of(ask->failure).raise();
    ask->asker->answered(*ask);
  }
  gathering_.put_down(std::move(flight));
  if (disagrees)
    complain(StoreError::disagreement, "decides otherwise than the core: is another program writing here?");
}

void Lane::fail(std::unique_ptr<Flight> flight, StoreFailure failure) {
  for (SharedAsk* const ask : flight->batch.members()) redis::fail(*ask, failure, counts_);
  gathering_.put_down(std::move(flight));
}

// Who is told may ask again: that is gathered for later.
void Lane::fail_gathered() {
  std::vector<std::unique_ptr<Flight>> flights;
  gathering_.take(flights);
  for (auto& flight : flights) fail(std::move(flight), StoreFailure::away);
}

// Their clock was read somewhere between sending and now.
void Lane::note_clock(Instant theirs, Duration took) {
  const auto ours = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()) - took / 2;
  counts_.clock_offset.set((theirs - ours).count());
}

}  // namespace weir::store::redis
