#include "frontend/admin/consumer_lookup.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/calendar.h"
#include "core/instant.h"
#include "engine/bindings.h"
#include "frontend/admin/admin_json.h"
#include "match/consumer.h"
#include "policy/words.h"
#include "store/store.h"
#include "text/json_writer.h"
#include "weir/limit.h"

namespace weir::frontend {
namespace {

using engine::EvaluationBatch;

// Estimates the time of the oldest counted charge from the state. `at` is the store's time. For a counter in debt,
// which only settling can cause, the result may be a later charge: the one whose expiry makes units available.
std::optional<Instant> counted_since(const Limit& numbers, const Decision& present, Instant at) {
  const Duration window = numbers.rate().per;
  switch (numbers.algorithm()) {
    case Algorithm::fixed_window:
      if (const core::Calendar* const calendar = numbers.calendar()) {
        return Instant(Duration(calendar->around(core::micros(at)).start));
      }
      return at + present.reset_after - window;
    case Algorithm::sliding_window_log:
      // `more_after` is when the oldest charge leaves the window.
      return at + present.more_after.value_or(present.reset_after) - window;
    case Algorithm::sliding_window_counter: {
      // `reset_after` exceeds one window only if the current window has charges. `more_after` is within the current
      // window only if the previous one has charges too.
      if (present.reset_after <= window) return at + present.reset_after - 2 * window;
      const Duration runs_for = present.reset_after - window;
      const bool counts_before = present.more_after && *present.more_after <= runs_for;
      return at + runs_for - (counts_before ? 2 : 1) * window;
    }
    default:
      return {};  // a bucket's state records when it will be full, not when it last was
  }
}

}  // namespace

ConsumerLookup::ConsumerLookup(const policy::Ruleset& ruleset, ConsumerBody body, Instant now, NameOf name_of)
    : body_(std::move(body)), now_(now), name_of_(std::move(name_of)) {
  const auto given =
      body_.limit.empty() ? match::given_parts(ruleset.identity, body_.consumer) : std::vector<match::GivenPart>();
  for (const policy::CompiledLimit& limit : ruleset.limits) {
    const bool is_meant = body_.limit.empty() ? !limit.by_descriptor() : limit.name == body_.limit;
    if (!is_meant || limits_.size() + others_.size() >= max_limits) continue;
    const std::string consumer = given.empty() ? body_.consumer : match::consumer_by(limit, given);
    if (consumer.empty() && !given.empty()) {
      others_.push_back({limit.name, "is keyed by " + match::consumer_form(limit)});
      continue;
    }
    limits_.push_back(limit.name);
    counters_.push_back(consumer_request(Kind::inspect, limit.name, consumer, body_.tier));
  }
}

void ConsumerLookup::add(EvaluationBatch& batch) {
  for (const auto& counter : counters_) {
    counter->name_exceptions(id_of());
    counter->add_to(batch);
  }
}

// Returns nothing for a block or for leased slices, whose figures do not depend on the charges alone.
std::optional<Instant> ConsumerLookup::since(const EvaluationBatch& batch, std::size_t index) const {
  const std::size_t first = counters_[index]->first();
  const engine::Verdict& present = batch.verdict(first + 1);
  const store::Holdings& holdings = batch.holdings(first + 1);
  const policy::CompiledLimit& limit = *limit_named(batch.bindings().ruleset(), limits_[index]);
  const auto& matched = batch.matched(first + 1).limits;
  const bool is_replaced = !matched.empty() && matched.front().replaced != nullptr;
  const auto& numbers = is_replaced ? matched.front().replaced->numbers : limit.live.by_tier[present.tier];
  if (!numbers || present.outcomes.empty() || batch.verdict(first).reason == engine::Reason::blocked) return {};
  const Decision& decision = present.outcomes.front().decision;
  if (decision.remaining >= decision.limit) return {};
  const bool is_exact = holdings.known && holdings.leased_units() == 0;
  if (!is_exact && numbers->algorithm() != Algorithm::fixed_window) return {};
  return counted_since(*numbers, decision, holdings.known ? holdings.at : now_);
}

// Writes the fields of a counter, and `words`, `since` and `blocked`.
void ConsumerLookup::write_counter(const EvaluationBatch& batch, std::size_t index, text::JsonWriter& json) const {
  const policy::CompiledLimit& limit = *limit_named(batch.bindings().ruleset(), limits_[index]);
  const engine::Verdict& next = batch.verdict(counters_[index]->first());
  json.begin_object();
  counters_[index]->write(batch, json);
  json.fields("words", policy::limit_text(limit), "since", since(batch, index));
  if (limit.penalty && next.reason == engine::Reason::blocked && next.retry_after) {
    json.object("blocked", "since", now_ + *next.retry_after - limit.penalty->block, "expires_after",
                *next.retry_after);
  } else {
    json.null("blocked");
  }
  json.end_object();
}

unsigned ConsumerLookup::status_of_error(const EvaluationBatch& batch) const {
  return counters_.empty() ? 404 : counters_.front()->status_of_error(batch);
}

std::optional<Error> ConsumerLookup::error(const EvaluationBatch& batch) const {
  if (body_.limit.empty()) return {};
  if (limits_.empty()) return Error{"limit", "unknown limit"};
  return counters_.front()->error(batch);
}

void ConsumerLookup::write(const EvaluationBatch& batch, text::JsonWriter& json) const {
  std::vector<Other> others = others_;
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < counters_.size(); ++i) {
    if (const auto error = counters_[i]->error(batch)) {
      others.push_back({limits_[i], error->message()});
    } else {
      found.push_back(i);
    }
  }
  json.field_or_null("hash", found.empty() ? "" : name_of_(batch.consumer(counters_[found.front()]->first())));
  json.list("limits", found, [&](std::size_t index) { write_counter(batch, index, json); });
  json.list("others", others, [&](const Other& of) { json.object({}, "limit", of.limit, "why", of.why); });
}

}  // namespace weir::frontend
