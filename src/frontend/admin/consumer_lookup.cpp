#include "frontend/admin/consumer_lookup.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/calendar.h"
#include "core/instant.h"
#include "engine/bindings.h"
#include "policy/words.h"
#include "text/json_writer.h"
#include "weir/limit.h"

namespace weir::frontend {
namespace {

using engine::EvaluationBatch;

const policy::CompiledLimit* limit_named(const policy::Ruleset& ruleset, std::string_view name) {
  const auto found = std::ranges::find(ruleset.limits, name, &policy::CompiledLimit::name);
  return found == ruleset.limits.end() ? nullptr : &*found;
}

// Without the brace that ends it: fields follow.
std::string_view opened(std::string_view object) {
  return object.substr(0, object.rfind('}'));
}

// The fields of an object that has been begun elsewhere.
std::string closed(text::JsonWriter& json) {
  json.end_object();
  std::string text = json.take();
  text.front() = ',';
  text.pop_back();  // the end of the line
  return text;
}

// The window in which something is counted; none: nothing is, or the limit has no fixed windows.
std::optional<Instant> window_began(const policy::CompiledLimit& limit, const engine::Verdict& present, Instant now) {
  const auto& numbers = limit.live.by_tier[present.tier];
  if (!numbers || numbers->algorithm() != Algorithm::fixed_window || present.outcomes.empty()) return {};
  const Decision& decision = present.outcomes.front().decision;
  if (decision.remaining >= decision.limit) return {};
  if (const core::Calendar* const calendar = numbers->calendar()) {
    return Instant(Duration(calendar->around(core::micros(now)).start));
  }
  return now + decision.reset_after - numbers->rate().per;
}

}  // namespace

ConsumerLookup::ConsumerLookup(const policy::Ruleset& ruleset, ConsumerBody body, Instant now, NameOf name_of)
    : body_(std::move(body)), now_(now), name_of_(std::move(name_of)) {
  for (const policy::CompiledLimit& limit : ruleset.limits) {
    const bool is_meant = body_.limit.empty() ? !limit.by_descriptor() : limit.name == body_.limit;
    if (is_meant && limits_.size() < most_limits) limits_.push_back(limit.name);
  }
  for (const std::string& limit : limits_) {
    counters_.push_back(consumer_request(Kind::inspect, limit, body_.consumer, body_.tier));
  }
}

void ConsumerLookup::add(EvaluationBatch& batch) {
  for (const auto& counter : counters_) counter->add_to(batch);
}

// `words`, `since` and `blocked`.
std::string ConsumerLookup::more_of(const EvaluationBatch& batch, std::size_t place) const {
  const policy::CompiledLimit& limit = *limit_named(batch.bindings().ruleset(), limits_[place]);
  const engine::Verdict& next = batch.verdict(counters_[place]->first());
  const engine::Verdict& present = batch.verdict(counters_[place]->first() + 1);
  text::JsonWriter json;
  json.begin_object();
  json.field("words", policy::limit_text(limit));
  json.field("since", window_began(limit, present, now_));
  if (limit.penalty && next.reason == engine::Reason::blocked && next.retry_after) {
    json.object("blocked", "since", now_ + *next.retry_after - limit.penalty->block, "ends_after", *next.retry_after);
  } else {
    json.null("blocked");
  }
  return closed(json);
}

unsigned ConsumerLookup::status_of_error(const EvaluationBatch& batch) const {
  return counters_.empty() ? 404 : counters_.front()->status_of_error(batch);
}

Result<std::string> ConsumerLookup::answer(const EvaluationBatch& batch) const {
  if (!body_.limit.empty() && limits_.empty()) return failure("limit", "there is none of that name");
  std::string found;
  text::JsonWriter others;
  std::string hash;
  others.begin_array();
  for (std::size_t i = 0; i < counters_.size(); ++i) {
    const auto told = counters_[i]->answer(batch);
    if (!told && !body_.limit.empty()) return tl::unexpected(told.error());
    if (!told) {
      others.object({}, "limit", limits_[i], "why", told.error().message());
      continue;
    }
    if (hash.empty()) hash = name_of_(batch.consumer(counters_[i]->first()));
    found += (found.empty() ? "" : ",") + std::string(opened(*told)) + more_of(batch, i);
  }
  others.end_array();
  text::JsonWriter head;
  head.begin_object();
  head.field_or_null("hash", hash);
  head.end_object();
  std::string list = others.take();
  list.pop_back();
  return std::string(opened(head.take())) + R"(,"limits":[)" + found + R"(],"others":)" + list + "}\n";
}

}  // namespace weir::frontend
