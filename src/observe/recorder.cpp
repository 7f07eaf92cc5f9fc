#include "observe/recorder.h"

#include <algorithm>
#include <utility>

#include "core/product.h"
#include "engine/caller.h"
#include "engine/plan.h"
#include "table/siphash.h"

namespace weir::observe {

using engine::DescriptorStatus;
using engine::Judge;
using engine::NamedAsk;
using engine::Outcome;
using engine::Query;
using engine::Verdict;

namespace {

std::string_view consumer_of(Judge& judge, const Query& query, const Outcome& outcome) {
  return judge.consumer_of(query, outcome);
}

std::string_view consumer_of(Judge& judge, const NamedAsk& ask, const Outcome& /*outcome*/) {
  return judge.consumer_of(ask);
}

bool is_look(const engine::DescriptorAsk& ask) noexcept {
  return ask.hits == Cost{0};
}

bool only_looks(const engine::DescriptorVerdict& verdict) noexcept {
  return std::ranges::all_of(verdict.asks, is_look);
}

void add_request(Denial& denial, const policy::Ruleset& ruleset, const Query& query) {
  denial.method = query.method;
  denial.address = engine::identify(ruleset, query).address;
}

void add_request(Denial& /*denial*/, const policy::Ruleset& /*ruleset*/, const NamedAsk& /*ask*/) {}

}  // namespace

std::chrono::nanoseconds Recorder::steady_time() noexcept {
  return std::chrono::steady_clock::now().time_since_epoch();
}

Recorder::Recorder(const ConsumerNames& names, DecisionLog* log, std::uint64_t seed, Stopwatch stopwatch)
    : names_(names), log_(log), stopwatch_(stopwatch), sampler_(log == nullptr ? Sampling{} : log->sampling(), seed) {}

void Recorder::entered(const engine::Plan& plan) {
  const std::lock_guard guard(mutex_);
  by_number_.clear();
  for (const engine::PlannedLimit& limit : plan.limits()) {
    by_number_.push_back(&*limits_.try_emplace(limit.source->name).first);
  }
}

std::chrono::nanoseconds Recorder::begin() {
  return begun_ = stopwatch_();
}

void Recorder::judged(Judge& judge, std::span<const Query> queries, std::span<const Verdict> verdicts, Instant now) {
  const auto peeks = static_cast<std::uint64_t>(std::ranges::count(queries, true, &Query::peek));
  record_time(queries.size(), queries.size() - peeks);
  for (std::size_t i = 0; i < queries.size(); ++i) record(judge, queries[i], verdicts[i], now);
}

void Recorder::judged_by_name(Judge& judge, std::span<const NamedAsk> asks, std::span<const Result<Verdict>> verdicts,
                              Instant now) {
  std::uint64_t decided = 0;
  for (std::size_t i = 0; i < asks.size(); ++i) decided += verdicts[i] && !asks[i].peek ? 1U : 0U;
  record_time(asks.size(), decided);
  for (std::size_t i = 0; i < asks.size(); ++i) {
    if (verdicts[i]) record(judge, asks[i], *verdicts[i], now);
  }
}

void Recorder::judged(Judge& /*judge*/, std::span<const engine::DescriptorVerdict> verdicts, Instant now) {
  const auto looks = static_cast<std::uint64_t>(std::ranges::count_if(verdicts, only_looks));
  record_time(verdicts.size(), verdicts.size() - looks);
  for (const engine::DescriptorVerdict& verdict : verdicts) record(verdict, now);
}

// The time is shared out evenly among all of a batch.
void Recorder::record_time(std::uint64_t all, std::uint64_t counted) noexcept {
  if (counted == 0) return;
  const auto passed = static_cast<std::uint64_t>(std::max(stopwatch_() - begun_, std::chrono::nanoseconds{0}).count());
  durations_.add_shared(counted == all ? passed : core::multiply_divide_floor(passed, counted, all), counted);
  batches_.add(counted);
}

// Rounded up, so that a bucket's bound holds exactly.
void Recorder::record_headroom(std::uint32_t limit, const Decision& decision) noexcept {
  if (decision.limit == 0) return;  // it was not asked
  by_number_[limit]->second.add(core::multiply_divide_ceil(decision.remaining, 1'000'000, decision.limit));
}

void Recorder::record(const engine::DescriptorVerdict& verdict, Instant now) {
  for (std::size_t i = 0; i < verdict.statuses.size(); ++i) {
    const DescriptorStatus& status = verdict.statuses[i];
    if (status.kind != DescriptorStatus::Kind::limited || is_look(verdict.asks[i])) continue;
    if (status.limit) record_headroom(*status.limit, status.decision);
    if (!status.admitted) record_denial(verdict.asks[i], status, now);
  }
}

template <class Ask>
void Recorder::record(Judge& judge, const Ask& ask, const Verdict& verdict, Instant now) {
  if (ask.peek) return;
  for (const Outcome& outcome : verdict.outcomes) record_headroom(outcome.limit, outcome.decision);
  if (!verdict.admitted) [[unlikely]]
    record_denial(judge, ask, verdict, now);
}

template <class Ask>
void Recorder::record_denial(Judge& judge, const Ask& ask, const Verdict& verdict, Instant now) {
  for (const Outcome& outcome : verdict.outcomes) {
    if (outcome.decision.admitted || outcome.standing == engine::Standing::shadow) continue;
    denied_.count(by_number_[outcome.limit]->first, outcome.consumer.value, now,
                  [&](std::string& name) { names_.append(name, consumer_of(judge, ask, outcome)); });
  }
  if (log_ != nullptr && sampler_.takes() && log_->has_room(now)) log_denial(judge, ask, verdict, now);
}

template <class Ask>
void Recorder::log_denial(Judge& judge, const Ask& ask, const Verdict& verdict, Instant now) {
  const policy::Ruleset& ruleset = judge.plan().ruleset();
  Denial denial{.time = now,
                .reason = name_of(verdict.reason),
                .route = verdict.route,
                .tier = ruleset.tiers.names[verdict.tier],
                .cost = ask.cost.value_or(Cost{1}),
                .decision = verdict.decision};
  add_request(denial, ruleset, ask);
  consumer_.clear();
  if (verdict.limit != Verdict::no_limit) {
    denial.limit = ruleset.limits[verdict.limit].name;
    const auto decided = std::ranges::find(verdict.outcomes, verdict.limit, &Outcome::limit);
    if (decided != verdict.outcomes.end()) {
      denial.cost = decided->cost;
      names_.append(consumer_, consumer_of(judge, ask, *decided));
    }
  }
  denial.consumer = consumer_;
  log_->write(denial, line_);
}

void Recorder::record_denial(const engine::DescriptorAsk& ask, const DescriptorStatus& status, Instant now) {
  consumer_.clear();
  names_.append(consumer_, ask.entries);
  if (status.limit) {
    constexpr table::HashKey any_key{};  // the values in it are hashed under the secret one
    denied_.count(by_number_[*status.limit]->first, table::siphash13(any_key, consumer_), now,
                  [&](std::string& name) { name = consumer_; });
  }
  if (log_ == nullptr || !sampler_.takes() || !log_->has_room(now)) return;
  const std::string_view limit = status.limit ? std::string_view(by_number_[*status.limit]->first) : "override";
  const Denial denial{.time = now,
                      .reason = name_of(status.numbers.limit == 0 ? engine::Reason::banned : engine::Reason::exceeded),
                      .limit = limit,
                      .consumer = consumer_,
                      .cost = ask.hits,
                      .decision = status.decision};
  log_->write(denial, line_);
}

void Recorder::add_to(RecorderTotals& totals) const {
  durations_.add_to(totals.durations);
  batches_.add_to(totals.batches);
  const std::lock_guard guard(mutex_);
  for (const auto& [name, headroom] : limits_) headroom.add_to(totals.headroom[name]);
}

}  // namespace weir::observe
