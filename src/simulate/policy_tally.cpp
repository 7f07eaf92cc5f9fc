#include "simulate/policy_tally.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "match/caller.h"
#include "match/consumer.h"
#include "policy/words.h"
#include "simulate/report_words.h"

namespace weir::simulate {
namespace {

using engine::Divergence;
using engine::Outcome;
using engine::Query;
using engine::Reason;
using engine::Standing;
using engine::Verdict;

// Returns the sample size of one limit.
std::size_t share_of(std::size_t max_consumers, std::size_t limits) noexcept {
  constexpr std::size_t min_sample = 1'000;    // fewer would make the quantiles meaningless
  constexpr std::size_t max_sample = 100'000;  // the top 0.1 % are then 100 consumers
  return std::clamp(max_consumers / std::max<std::size_t>(1, limits), min_sample, max_sample);
}

// True if this limit denied the request, or would have in shadow mode.
bool denies(const Outcome& outcome, const Verdict& verdict) noexcept {
  return !outcome.decision.admitted && (outcome.standing == Standing::shadow || !verdict.admitted);
}

// True if the keys of a limit identify no client.
bool is_anonymous(const policy::ConsumerKey& key) {
  using Kind = policy::KeyPart::Kind;
  return std::ranges::all_of(key.alternatives, [](const auto& parts) {
    return std::ranges::all_of(parts,
                               [](const auto& part) { return part.kind == Kind::global || part.kind == Kind::route; });
  });
}

constexpr std::size_t max_shown = 20;

// The name has enough digits to distinguish consumers, but too few to identify them by brute force.
std::string name_by_hash(std::uint64_t consumer) {
  return fmt::format("{:012x}", consumer >> 16);
}

std::string numbers_of(const policy::TieredLimit& limit) {
  return limit.by_tier.empty() ? std::string{} : policy::numbers_text(limit, 0);
}

}  // namespace

PolicyTally::OfLimit::OfLimit(const policy::CompiledLimit& limit, Names names, std::size_t max_consumers)
    : is_shown(names == Names::shown || is_anonymous(limit.consumer_key)), demand(limit.live, max_consumers) {}

PolicyTally::PolicyTally(const engine::Bindings& bindings, Names names, HashedName hashed_name,
                         std::size_t max_consumers)
    : bindings_(bindings), hashed_name_(std::move(hashed_name)), routes_(bindings.matcher().labels().size()) {
  const std::size_t share = share_of(max_consumers, bindings.limits().size());
  for (const engine::BoundLimit& limit : bindings.limits()) {
    limits_.push_back(std::make_unique<OfLimit>(*limit.source, names, share));
  }
}

void PolicyTally::add(std::span<const Query> queries, std::span<const Verdict> verdicts,
                      std::span<const Instant> times) {
  for (const Verdict& verdict : verdicts) {
    for (const Outcome& outcome : verdict.outcomes) {
      __builtin_prefetch(limits_[outcome.limit]->demand.home_of(verdict.tier, outcome.consumer.value));
    }
  }
  for (std::size_t i = 0; i < queries.size(); ++i) {
    add_one(queries[i], verdicts[i], {times[i], second_of(times[i])});
  }
}

void PolicyTally::add_one(const Query& query, const Verdict& verdict, const Time& time) {
  OfRoute& route = routes_[verdict.label];
  route.rate.add(time.second);
  ++(verdict.admitted ? route.admitted : route.denied);
  timeline_.add(time.second, verdict.admitted);
  ++(verdict.admitted ? admitted_ : denied_);
  if (verdict.reason == Reason::warned) ++warned_;
  if (verdict.reason == Reason::uncovered || verdict.reason == Reason::exempt) ++uncovered_;
  if (verdict.admitted && verdict.delay > Duration::zero()) ++delayed_;
  for (const Outcome& outcome : verdict.outcomes) add_outcome(query, verdict, outcome, time);
}

void PolicyTally::add_outcome(const Query& query, const Verdict& verdict, const Outcome& outcome, const Time& time) {
  OfLimit& limit = *limits_[outcome.limit];
  limit.rate.add(time.second);
  limit.demand.add(verdict.tier, outcome.consumer.value, outcome.cost, time.at);
  if (denies(outcome, verdict)) rank(limit.denied, query, outcome);
  if (!outcome.candidate) return;
  const Divergence divergence = outcome.divergence();
  if (divergence == Divergence::newly_denied) rank(limit.candidate_denies, query, outcome);
  if (divergence == Divergence::newly_admitted) rank(limit.candidate_admits, query, outcome);
}

void PolicyTally::add_difference(const Query& query, const Verdict& verdict) {
  if (verdict.limit == Verdict::no_limit) return;  // too many limits matched: no particular one denied
  OfLimit& limit = *limits_[verdict.limit];
  ++limit.differences[verdict.label];
  const auto outcome = std::ranges::find(verdict.outcomes, verdict.limit, &Outcome::limit);
  if (outcome != verdict.outcomes.end()) rank(limit.differs, query, *outcome);
}

void PolicyTally::rank(Ranking& ranking, const Query& query, const Outcome& outcome) {
  Ranking::Entry& entry = ranking.add(outcome.consumer.value);
  const bool is_named = limits_[outcome.limit]->is_shown || hashed_name_;
  if (is_named && Ranking::needs_name(entry)) entry.name = name_of(query, outcome);
}

std::string PolicyTally::name_of(const Query& query, const Outcome& outcome) const {
  const match::Caller caller = match::identify(bindings_.ruleset(), query);
  std::string key;
  if (!bindings_.matcher().write_key(query, caller, outcome.limit, outcome.route, key)) return {};
  return limits_[outcome.limit]->is_shown ? display_text(match::describe_consumer(key)) : hashed_name_(key);
}

double Stretch::seconds() const noexcept {
  const double length = std::chrono::duration<double>(last - first).count();
  return std::max(length, 1.0);
}

Pace pace_of(const RatePeak& rate, const Stretch& stretch) noexcept {
  const RatePeak::Peaks peaks = rate.peaks();
  const double mean = static_cast<double>(peaks.requests) / stretch.seconds();
  return {.requests = peaks.requests, .second = peaks.second, .minute = peaks.minute, .mean_per_second = mean};
}

PolicyReport PolicyTally::report(const engine::Engine& engine, const Stretch& stretch) const {
  const engine::Engine::Totals totals = engine.totals();
  PolicyReport report;
  report.digest = bindings_.ruleset().digest;
  report.admitted = admitted_;
  report.denied = denied_;
  report.warned = warned_;
  report.delayed = delayed_;
  report.uncovered = uncovered_;
  report.ignored_headers = totals.ignored_headers;
  report.unknown_tiers = totals.unknown_tiers;
  report.overflowed = bindings_.tables().overflowed();
  report.timeline = timeline_;
  for (std::size_t i = 0; i < limits_.size(); ++i) {
    report.limits.push_back(limit_report(i, totals.by_limit_and_route, stretch));
  }
  for (std::size_t i = 0; i < routes_.size(); ++i) {
    const OfRoute& route = routes_[i];
    if (route.admitted + route.denied == 0) continue;
    report.routes.push_back(
        {bindings_.matcher().labels()[i], route.admitted, route.denied, pace_of(route.rate, stretch)});
  }
  std::ranges::stable_sort(report.routes, std::ranges::greater{},
                           [](const RouteReport& route) { return route.pace.requests; });
  return report;
}

LimitReport PolicyTally::limit_report(std::size_t limit, const engine::Engine::Tally& counted,
                                      const Stretch& stretch) const {
  const policy::CompiledLimit& source = bindings_.ruleset().limits[limit];
  const OfLimit& of = *limits_[limit];
  LimitReport report;
  report.name = source.name;
  report.algorithm = policy::name_of(source.algorithm);
  report.numbers = numbers_of(source.live);
  report.consumer_key = policy::text_of(source.consumer_key);
  report.mode = policy::name_of(source.mode);
  for (const std::string& route : bindings_.matcher().routes_of(static_cast<std::uint32_t>(limit))) {
    const auto row = counted.find({source.name, route});
    if (row == counted.end()) continue;
    report.routes.push_back({route, {row->second}});
    report.counts += report.routes.back().counts;
  }
  std::ranges::stable_sort(report.routes, std::ranges::greater{},
                           [](const LimitOnRoute& route) { return route.counts.evaluated(); });
  report.pace = pace_of(of.rate, stretch);
  report.hardest_hit = hardest_hit(of.denied);
  report.demand = of.demand.report(bindings_.ruleset().tiers.names);
  if (source.candidate) {
    report.candidate = CandidateReport{
        .numbers = numbers_of(*source.candidate),
        .algorithm = std::string(policy::name_of(source.candidate_algorithm.value_or(source.algorithm))),
        .agrees = report.counts.of(engine::Event::candidate_agrees),
        .newly_denied = report.counts.of(engine::Event::candidate_newly_denied),
        .newly_admitted = report.counts.of(engine::Event::candidate_newly_admitted),
        .newly_denied_consumers = hardest_hit(of.candidate_denies),
        .newly_admitted_consumers = hardest_hit(of.candidate_admits),
    };
  }
  return report;
}

HardestHit PolicyTally::hardest_hit(const Ranking& ranking) {
  HardestHit hit;
  hit.total = ranking.total();
  hit.affected = ranking.consumers();
  hit.exact = ranking.is_exact();
  for (const Ranking::Ranked& ranked : ranking.top(max_shown)) {
    const std::string name = ranked.name.empty() ? name_by_hash(ranked.consumer) : ranked.name;
    hit.consumers.push_back({name, ranked.count, ranked.error});
  }
  return hit;
}

std::vector<PolicyTally::Difference> PolicyTally::differences() const {
  std::vector<Difference> found;
  for (std::uint32_t i = 0; i < limits_.size(); ++i) {
    const std::string& name = bindings_.limits()[i].source->name;
    for (const auto& [label, count] : limits_[i]->differences)
      found.push_back({i, name, bindings_.matcher().labels()[label], count});
  }
  return found;
}

HardestHit PolicyTally::consumers_of_differences(std::uint32_t limit) const {
  return hardest_hit(limits_[limit]->differs);
}

}  // namespace weir::simulate
