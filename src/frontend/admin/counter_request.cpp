#include "frontend/admin/counter_request.h"

#include <algorithm>
#include <optional>
#include <span>

#include <fmt/core.h>

#include "match/consumer.h"
#include "match/descriptors.h"
#include "match/named.h"
#include "policy/consistency.h"
#include "policy/words.h"
#include "store/leased/slice_table.h"
#include "table/siphash.h"

namespace weir::frontend {
namespace {

using engine::DescriptorStatus;
using engine::EvaluationBatch;
using engine::Reason;
using engine::Verdict;
using match::NamedQuery;

// An existing counter cannot be reset if the store is unavailable (503) or consumers share its state (409).
unsigned status_of_failed_reset(const EvaluationBatch& batch) noexcept {
  return batch.bindings().shared_keys() != nullptr ? 503 : 409;
}

std::optional<Error> error_in(const EvaluationBatch& batch, std::size_t number) {
  const Error* const error = batch.error(number);
  return error == nullptr ? std::nullopt : std::optional(*error);
}

void write_next(bool admitted, Reason reason, const std::optional<Duration>& retry_after, text::JsonWriter& json) {
  json.fields("admitted", admitted, "reason", name_of(reason), "retry_after", retry_after);
}

void write_figures(policy::PolicyAlgorithm algorithm, policy::Mode mode, const Decision& decision,
                   const std::optional<Duration>& more_after, text::JsonWriter& json) {
  json.fields("algorithm", name_of(algorithm), "mode", name_of(mode), "quota", decision.limit, "remaining",
              decision.remaining, "reset_after", decision.reset_after, "more_after", more_after);
}

// The effective consistency of a limit.
policy::Consistency consistency_of(const engine::Bindings& bindings, std::uint32_t limit, std::size_t tier) {
  const policy::CompiledLimit& of = bindings.ruleset().limits[limit];
  const auto& numbers = of.live.by_tier[tier];
  if (bindings.shared_keys() == nullptr || !numbers) return policy::Consistency::exact;
  const store::SliceHolder* const holder = bindings.slice_holder();
  const std::uint64_t nodes = holder == nullptr ? policy::default_nodes : holder->nodes.load(std::memory_order_relaxed);
  return policy::effective_consistency(of, *numbers, nodes).kind;
}

constexpr std::size_t max_listed = 32;  // maximum number of slices or receipts listed

// Lists the slices in descending order of expiry.
void write_slices(const engine::Bindings& bindings, const store::Holdings& holdings, text::JsonWriter& json) {
  std::vector<core::Slice> slices = holdings.slices;
  std::ranges::stable_sort(slices, std::greater<>(), &core::Slice::until);
  json.field("holders", slices.size());
  json.list("slices", std::span(slices).first(std::min(slices.size(), max_listed)), [&](const core::Slice& slice) {
    const bool is_own = bindings.slice_holder() != nullptr && bindings.slice_holder()->owns(slice.holder);
    json.object({}, "holder", store::SliceHolder::text_of(slice.holder), "units", slice.units, "expires_after",
                Duration{slice.until - core::micros(holdings.at)}, "own", is_own);
  });
}

// Receipt ids are hashed, because callers choose them and they may be sensitive.
std::string hashed(const core::ReceiptId& id) {
  return fmt::format("{:016x}", table::siphash13({id.high, id.low}, "receipt"));
}

// Lists the receipts in ascending order of expiry.
void write_receipts(const store::Holdings& holdings, text::JsonWriter& json) {
  std::vector<core::Receipt> open = holdings.open;
  std::ranges::stable_sort(open, {}, &core::Receipt::ends);
  std::uint64_t units = 0;
  for (const core::Receipt& receipt : open) units += receipt.cost;
  json.fields("open", open.size(), "open_units", units);
  json.list("receipts", std::span(open).first(std::min(open.size(), max_listed)), [&](const core::Receipt& receipt) {
    json.object({}, "receipt", hashed(receipt.id), "units", receipt.cost, "expires_after",
                Duration{receipt.ends - core::micros(holdings.at)});
  });
}

void write_holdings(const engine::Bindings& bindings, const store::Holdings& holdings, text::JsonWriter& json) {
  if (!holdings.known) {
    for (const auto* name : {"used", "leased", "holders", "slices", "open", "open_units", "receipts"}) json.null(name);
    return;
  }
  json.fields("used", holdings.used, "leased", holdings.leased_units());
  write_slices(bindings, holdings, json);
  write_receipts(holdings, json);
}

// A candidate has its own state, which is never leased.
void write_candidate(const std::optional<Decision>& next, const std::optional<Decision>& present,
                     text::JsonWriter& json) {
  if (!next || !present) return json.null("candidate");
  json.object("candidate", "admitted", next->admitted, "quota", present->limit, "remaining", present->remaining,
              "consistency", name_of(policy::Consistency::exact));
}

void write_no_figures(text::JsonWriter& json) {
  for (const auto* name : {"algorithm", "mode", "quota", "remaining", "reset_after", "more_after", "consistency",
                           "used", "leased", "holders", "slices", "open", "open_units", "receipts"}) {
    json.null(name);
  }
}

// This process drops its own slices. Units leased to other nodes can be spent until they expire.
void write_reset(std::string_view kind, std::string_view name, std::string_view consumer,
                 const engine::Bindings& bindings, const store::Holdings& holdings, text::JsonWriter& json) {
  std::uint64_t units = 0;
  std::uint64_t holders = 0;
  Duration expires_after{};
  for (const core::Slice& slice : holdings.slices) {
    if (bindings.slice_holder() != nullptr && bindings.slice_holder()->owns(slice.holder)) continue;
    units += slice.units;
    ++holders;
    expires_after = std::max(expires_after, Duration{slice.until - core::micros(holdings.at)});
  }
  json.fields(kind, name, "consumer", consumer, "reset", true);
  json.object("out", "units", units, "holders", holders, "expires_after", expires_after);
}

// Returns null if the tier has no numbers, or if only the candidate has numbers.
const engine::Outcome* outcome_of(const EvaluationBatch& batch, std::size_t number) noexcept {
  const Verdict& verdict = batch.verdict(number);
  if (verdict.outcomes.empty()) return nullptr;
  const engine::Outcome& outcome = verdict.outcomes.front();
  const bool is_replaced = batch.matched(number).limits.front().replaced != nullptr;
  return is_replaced || batch.bindings().ruleset().limits[outcome.limit].live.by_tier[verdict.tier] ? &outcome
                                                                                                    : nullptr;
}

class ConsumerRequest final : public CounterRequest {
 public:
  ConsumerRequest(Kind kind, std::string_view limit, std::string_view consumer, std::string_view tier)
      : kind_(kind), limit_(limit), consumer_(consumer), tier_(tier) {}

  [[nodiscard]] std::optional<Error> error(const EvaluationBatch& batch) const override {
    return error_in(batch, first());
  }
  void write(const EvaluationBatch& batch, text::JsonWriter& json) const override;
  [[nodiscard]] unsigned status_of_error(const EvaluationBatch& batch) const override;

 private:
  void add(EvaluationBatch& batch) override;
  [[nodiscard]] NamedQuery named() const noexcept {
    return {.limit = limit_, .consumer = consumer_, .one_meaning = true};
  }

  void write_exception(const EvaluationBatch& batch, text::JsonWriter& json) const;

  const Kind kind_;
  const std::string limit_;
  const std::string consumer_;
  const std::string tier_;
};

// To inspect a consumer, peeks twice: with the cost of the next request, and with a cost of zero for the current state.
void ConsumerRequest::add(EvaluationBatch& batch) {
  if (kind_ == Kind::reset) return batch.add_reset(named());
  NamedQuery look = named();
  look.tier = tier_;
  look.peek = true;
  batch.add(look);
  look.wants_more_after = true;
  look.wants_holdings = true;  // this also makes the cost zero, so the figures are those of the current state
  batch.add(look);
}

void ConsumerRequest::write(const EvaluationBatch& batch, text::JsonWriter& json) const {
  const std::string consumer = match::describe_consumer(batch.consumer(first()));
  if (kind_ == Kind::reset) {
    return write_reset("limit", limit_, consumer, batch.bindings(), batch.holdings(first()), json);
  }
  const policy::Ruleset& ruleset = batch.bindings().ruleset();
  const Verdict& next = batch.verdict(first());
  const Verdict& present = batch.verdict(first() + 1);
  json.fields("limit", limit_, "tier", ruleset.tiers.names[next.tier]);
  // A shadow limit does not take part in the verdict, so its own decision is reported.
  const engine::Outcome* const of_next = outcome_of(batch, first());
  if (of_next == nullptr || of_next->standing == engine::Standing::live) {
    write_next(next.admitted, next.reason, next.retry_after, json);
  } else {
    const Decision& decision = of_next->decision;
    write_next(decision.admitted, decision.admitted ? Reason::within : Reason::exceeded, decision.retry_after, json);
  }
  if (const engine::Outcome* const outcome = outcome_of(batch, first() + 1)) {
    const policy::CompiledLimit& limit = ruleset.limits[outcome->limit];
    write_figures(limit.algorithm, limit.mode, outcome->decision, outcome->decision.more_after, json);
    json.field("consistency", name_of(consistency_of(batch.bindings(), outcome->limit, present.tier)));
    write_holdings(batch.bindings(), batch.holdings(first() + 1), json);
  } else {
    write_no_figures(json);
  }
  const auto candidate_of = [](const Verdict& verdict) {
    return verdict.outcomes.empty() ? std::nullopt : verdict.outcomes.front().candidate;
  };
  write_candidate(candidate_of(next), candidate_of(present), json);
  write_exception(batch, json);
  json.field("consumer", consumer);
}

// Names the override that decides for the consumer, or the block.
void ConsumerRequest::write_exception(const EvaluationBatch& batch, text::JsonWriter& json) const {
  const match::Matched& matched = batch.matched(first());
  match::ExceptionNumber of_limit = 0;
  for (const match::MatchedLimit& part : matched.limits) of_limit = part.exception;
  for (const auto& part : matched.exempt) of_limit = part.exception;
  const match::ExceptionNumber block = matched.denied_by == match::by_block ? matched.block.number : 0;
  const auto id = [&](match::ExceptionNumber number) {
    return number == 0 || !id_of() ? std::string() : id_of()(number);
  };
  json.field_or_null("override", id(of_limit));
  json.field_or_null("block", id(block));
}

unsigned ConsumerRequest::status_of_error(const EvaluationBatch& batch) const {
  if (!batch.bindings().matcher().find_limit(limit_)) return 404;
  std::string key;
  const bool is_read = kind_ == Kind::reset && match::read_named(batch.bindings().matcher(), named(), key).has_value();
  return is_read ? status_of_failed_reset(batch) : 400;
}

class DescriptorRequest final : public CounterRequest {
 public:
  DescriptorRequest(Kind kind, std::string_view domain, std::vector<std::pair<std::string, std::string>> entries)
      : kind_(kind), domain_(domain), texts_(std::move(entries)) {
    for (const auto& [key, value] : texts_) entries_.push_back({key, value});
  }

  [[nodiscard]] std::optional<Error> error(const EvaluationBatch& batch) const override;
  void write(const EvaluationBatch& batch, text::JsonWriter& json) const override;
  [[nodiscard]] unsigned status_of_error(const EvaluationBatch& batch) const override;

 private:
  void add(EvaluationBatch& batch) override;
  [[nodiscard]] Result<const policy::Descriptor*> find(const EvaluationBatch& batch) const {
    std::string key;
    return match::find_descriptor(batch.bindings().ruleset(), {domain_, entries_}, key);
  }

  const Kind kind_;
  const std::string domain_;
  const std::vector<std::pair<std::string, std::string>> texts_;
  std::vector<DescriptorEntry> entries_;
  match::DescriptorQuery look_;
};

// A query with zero hits charges nothing and is not counted.
void DescriptorRequest::add(EvaluationBatch& batch) {
  if (kind_ == Kind::reset) return batch.add_reset(match::DescriptorName{domain_, entries_});
  look_.entries = entries_;
  look_.hits = Cost{0};
  batch.add_peek(domain_, look_);
}

std::optional<Error> DescriptorRequest::error(const EvaluationBatch& batch) const {
  if (auto error = error_in(batch, first()); error || kind_ == Kind::reset) return error;
  const auto found = find(batch);
  return found ? std::nullopt : std::optional(found.error());
}

void DescriptorRequest::write(const EvaluationBatch& batch, text::JsonWriter& json) const {
  const std::string consumer = match::describe_descriptor(entries_);
  if (kind_ == Kind::reset) {
    return write_reset("domain", domain_, consumer, batch.bindings(), batch.holdings(first()), json);
  }
  const auto found = find(batch);
  const policy::Ruleset& ruleset = batch.bindings().ruleset();
  const DescriptorStatus& status = batch.statuses(first()).front();
  const Decision& decision = status.decision;
  const std::string_view limit = (*found)->limit ? std::string_view(ruleset.limits[*(*found)->limit].name) : "";
  json.fields("domain", domain_, "limit", text::or_null(limit), "tier", ruleset.tiers.names.front());
  // The result for the next request, with one hit. A window is replenished completely when it ends.
  if (status.kind == DescriptorStatus::Kind::limited) {
    const bool admitted = decision.remaining > 0;
    const bool never = status.numbers.limit == 0;
    write_next(admitted,
               never      ? Reason::banned
               : admitted ? Reason::within
                          : Reason::exceeded,
               never ? std::nullopt : std::optional(admitted ? Duration::zero() : decision.reset_after), json);
    const bool is_used = decision.remaining < decision.limit;
    write_figures(policy::PolicyAlgorithm::fixed_window,
                  (*found)->shadow_mode ? policy::Mode::shadow : policy::Mode::enforce, decision,
                  is_used ? std::optional(decision.reset_after) : std::nullopt, json);
    const auto consistency =
        status.limit ? consistency_of(batch.bindings(), *status.limit, 0) : policy::Consistency::exact;
    json.field("consistency", name_of(consistency));
    write_holdings(batch.bindings(), batch.holdings(first()), json);
  } else {
    write_next(true, Reason::uncovered, Duration::zero(), json);
    write_no_figures(json);
  }
  json.null("candidate");
  json.null("override");
  json.null("block");
  json.field("consumer", consumer);
}

unsigned DescriptorRequest::status_of_error(const EvaluationBatch& batch) const {
  return find(batch) ? status_of_failed_reset(batch) : 404;
}

}  // namespace

std::unique_ptr<CounterRequest> consumer_request(CounterRequest::Kind kind, std::string_view limit,
                                                 std::string_view consumer, std::string_view tier) {
  return std::make_unique<ConsumerRequest>(kind, limit, consumer, tier);
}

std::unique_ptr<CounterRequest> descriptor_request(CounterRequest::Kind kind, std::string_view domain,
                                                   std::vector<std::pair<std::string, std::string>> entries) {
  return std::make_unique<DescriptorRequest>(kind, domain, std::move(entries));
}

}  // namespace weir::frontend
