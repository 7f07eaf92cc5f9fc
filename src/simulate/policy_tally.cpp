#include "simulate/policy_tally.h"

#include <algorithm>
#include <utility>

#include "engine/caller.h"
#include "engine/consumer.h"
#include "simulate/display_text.h"

namespace weir::simulate {
namespace {

using engine::Divergence;
using engine::Outcome;
using engine::Query;
using engine::Reason;
using engine::Standing;
using engine::Verdict;

std::int64_t second_of(Instant at) noexcept {
  return std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count();
}

// A limit's share of the consumers that may be looked at.
std::size_t share_of(std::size_t most_consumers, std::size_t limits) noexcept {
  constexpr std::size_t fewest = 1'000;    // or the quantiles would mean nothing
  constexpr std::size_t enough = 100'000;  // for one in a thousand to be a hundred
  return std::clamp(most_consumers / std::max<std::size_t>(1, limits), fewest, enough);
}

// Whether the request was denied by this limit, or would have been.
bool denies(const Outcome& outcome, const Verdict& verdict) noexcept {
  return !outcome.decision.admitted && (outcome.standing == Standing::shadow || !verdict.admitted);
}

// Whether the keys of a limit say nothing about anybody.
bool names_nobody(const policy::ConsumerKey& key) {
  using Kind = policy::KeyPart::Kind;
  return std::ranges::all_of(key.alternatives, [](const auto& parts) {
    return std::ranges::all_of(parts,
                               [](const auto& part) { return part.kind == Kind::global || part.kind == Kind::route; });
  });
}

}  // namespace

PolicyTally::OfLimit::OfLimit(const policy::CompiledLimit& limit, Names names, std::size_t most_consumers)
    : is_shown(names == Names::shown || names_nobody(limit.consumer_key)), demand(limit.live, most_consumers) {}

PolicyTally::PolicyTally(const engine::Plan& plan, Names names, HashedName hashed_name, std::size_t most_consumers)
    : plan_(plan), hashed_name_(std::move(hashed_name)), routes_(plan.labels().size()) {
  const std::size_t share = share_of(most_consumers, plan.limits().size());
  for (const engine::PlannedLimit& limit : plan.limits()) limits_.emplace_back(*limit.source, names, share);
}

void PolicyTally::add(std::span<const Query> queries, std::span<const Verdict> verdicts,
                      std::span<const Instant> times) {
  for (const Verdict& verdict : verdicts) {
    for (const Outcome& outcome : verdict.outcomes) {
      __builtin_prefetch(limits_[outcome.limit].demand.home_of(verdict.tier, outcome.consumer.value));
    }
  }
  for (std::size_t i = 0; i < queries.size(); ++i) add_one(queries[i], verdicts[i], times[i]);
}

void PolicyTally::add_one(const Query& query, const Verdict& verdict, Instant at) {
  const std::int64_t second = second_of(at);
  OfRoute& route = routes_[verdict.label];
  route.rate.add(second);
  ++(verdict.admitted ? route.admitted : route.denied);
  timeline_.add(second, verdict.admitted);
  ++(verdict.admitted ? admitted_ : denied_);
  if (verdict.reason == Reason::warned) ++warned_;
  if (verdict.reason == Reason::uncovered) ++uncovered_;
  if (verdict.admitted && verdict.delay > Duration::zero()) ++delayed_;
  for (const Outcome& outcome : verdict.outcomes) add_outcome(query, verdict, outcome, at);
}

void PolicyTally::add_outcome(const Query& query, const Verdict& verdict, const Outcome& outcome, Instant at) {
  OfLimit& limit = limits_[outcome.limit];
  limit.rate.add(second_of(at));
  limit.demand.add(verdict.tier, outcome.consumer.value, outcome.cost, at);
  if (denies(outcome, verdict)) rank(limit.denied, query, outcome);
  if (!outcome.candidate) return;
  const Divergence divergence = outcome.divergence();
  if (divergence == Divergence::newly_denied) rank(limit.candidate_denies, query, outcome);
  if (divergence == Divergence::newly_admitted) rank(limit.candidate_admits, query, outcome);
}

void PolicyTally::add_difference(const Query& query, const Verdict& verdict) {
  if (verdict.limit == Verdict::no_limit) return;  // more limits than can be judged: nobody's in particular
  OfLimit& limit = limits_[verdict.limit];
  ++limit.differences[verdict.label];
  const auto outcome = std::ranges::find(verdict.outcomes, verdict.limit, &Outcome::limit);
  if (outcome != verdict.outcomes.end()) rank(limit.differs, query, *outcome);
}

void PolicyTally::rank(Ranking& ranking, const Query& query, const Outcome& outcome) {
  Ranking::Entry& entry = ranking.add(outcome.consumer.value);
  const bool is_named = limits_[outcome.limit].is_shown || hashed_name_;
  if (is_named && Ranking::wants_name(entry)) entry.name = name_of(query, outcome);
}

std::string PolicyTally::name_of(const Query& query, const Outcome& outcome) const {
  const engine::PlannedLimit& limit = plan_.limits()[outcome.limit];
  const engine::Caller caller = engine::identify(plan_.ruleset(), query);
  std::string key;
  const auto presence = engine::write_consumer(*limit.source, plan_.ruleset().identity, caller, query,
                                               plan_.routes_of(limit)[outcome.route], key);
  if (presence == engine::Presence::absent) return {};
  return limits_[outcome.limit].is_shown ? display_text(engine::describe_consumer(key)) : hashed_name_(key);
}

}  // namespace weir::simulate
