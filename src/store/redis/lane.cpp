#include "store/redis/lane.h"

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

Moment the_time() noexcept {
  return Moment::clock::now();
}

Duration since(Moment then, Moment now) noexcept {
  return std::chrono::duration_cast<Duration>(now - then);
}

}  // namespace

bool Lane::ask(SharedAsk& ask, Slot slot) {
  if (breaker_.state() != BreakerState::closed) {
    if (!probe_wanted_) {
      counts_.turned_away.raise();
      return false;
    }
    probe_wanted_ = false;
  }
  const Moment now = turn_time();
  gathering_.add(ask, now + options_.timeout, slot);
  arm(now + options_.timeout);
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
  if (scheduled_ || !may_depart(now)) return;
  scheduled_ = true;
  loop_.post([self = self_] {
    Lane* const lane = *self;
    if (lane == nullptr) return;
    lane->scheduled_ = false;
    if (const Moment later = the_time(); lane->may_depart(later)) lane->depart(later);
  });
}

bool Lane::may_depart(Moment now) const noexcept {
  if (!greeted_ || held_ || gathering_.empty()) return false;
  if (batches_out_ == 0) return true;
  if (batches_out_ >= most_batches_out) return false;
  return gathering_.asks() >= large_batch * batches_out_ || now - departed_at_ > options_.timeout / 8;
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
  if (const Moment now = the_time(); may_depart(now)) depart(now);
}

void Lane::take_evaluation(std::unique_ptr<Flight> flight, const Reply& reply) {
  const Moment now = the_time();
  const Duration took = since(flight->sent_at, now);
  counts_.round_trip.add(static_cast<std::uint64_t>(took.count()));
  if (flight->given_up) {
    counts_.late_answers.raise();
    if (breaker_.state() == BreakerState::closed) breaker_.answered(took, now);
    gathering_.put_down(std::move(flight));
    return note_state();
  }
  if (reply.is(ReplyType::error)) return take_error(std::move(flight), reply.text(), now);
  if (!flight->batch.read(reply)) {
    complain(StoreError::garbled, "answers an evaluation with what is no answer to it");
    breaker_.failed(now);
    note_state();
    return fail(std::move(flight), StoreFailure::refused);
  }
  note_clock(flight->batch.members().front()->now, took);
  breaker_.answered(took, now);
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
  breaker_.failed(now);
  note_state();
  fail(std::move(flight), StoreFailure::refused);
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
