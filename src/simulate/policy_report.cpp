// PolicyTally's last word.
#include <algorithm>

#include <fmt/core.h>

#include "policy/words.h"
#include "simulate/policy_tally.h"

namespace weir::simulate {
namespace {

constexpr std::size_t most_shown = 20;

// Enough for a person to tell consumers apart, too little to find them by trying.
std::string hashed_name(std::uint64_t consumer) {
  return fmt::format("{:012x}", consumer >> 16);
}

std::string numbers_of(const policy::TieredLimit& limit) {
  return limit.by_tier.empty() ? std::string{} : policy::numbers_text(limit, 0);
}

}  // namespace

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
  report.digest = plan_.ruleset().digest;
  report.admitted = admitted_;
  report.denied = denied_;
  report.warned = warned_;
  report.delayed = delayed_;
  report.uncovered = uncovered_;
  report.ignored_headers = totals.ignored_headers;
  report.unknown_tiers = totals.unknown_tiers;
  report.overflowed = plan_.tables().overflowed();
  report.timeline = timeline_;
  for (std::size_t i = 0; i < limits_.size(); ++i) {
    report.limits.push_back(limit_report(i, totals.by_limit_and_route, stretch));
  }
  for (std::size_t i = 0; i < routes_.size(); ++i) {
    const OfRoute& route = routes_[i];
    if (route.admitted + route.denied == 0) continue;
    report.routes.push_back({plan_.labels()[i], route.admitted, route.denied, pace_of(route.rate, stretch)});
  }
  std::ranges::stable_sort(report.routes, std::ranges::greater{},
                           [](const RouteReport& route) { return route.pace.requests; });
  return report;
}

LimitReport PolicyTally::limit_report(std::size_t limit, const engine::Engine::Tally& counted,
                                      const Stretch& stretch) const {
  const engine::PlannedLimit& planned = plan_.limits()[limit];
  const policy::CompiledLimit& source = *planned.source;
  const OfLimit& of = limits_[limit];
  LimitReport report;
  report.name = source.name;
  report.algorithm = policy::name_of(source.algorithm);
  report.numbers = numbers_of(source.live);
  report.consumer_key = policy::text_of(source.consumer_key);
  report.mode = policy::name_of(source.mode);
  for (const std::string& route : plan_.routes_of(planned)) {
    const auto row = counted.find({source.name, route});
    if (row == counted.end()) continue;
    report.routes.push_back({route, {row->second}});
    report.counts += report.routes.back().counts;
  }
  std::ranges::stable_sort(report.routes, std::ranges::greater{},
                           [](const LimitOnRoute& route) { return route.counts.judged(); });
  report.pace = pace_of(of.rate, stretch);
  report.hardest_hit = hardest_hit(of.denied);
  report.demand = of.demand.report(plan_.ruleset().tiers.names);
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
  for (const Ranking::Ranked& ranked : ranking.top(most_shown)) {
    const std::string name = ranked.name.empty() ? hashed_name(ranked.consumer) : ranked.name;
    hit.consumers.push_back({name, ranked.count, ranked.error});
  }
  return hit;
}

std::vector<PolicyTally::Difference> PolicyTally::differences() const {
  std::vector<Difference> found;
  for (std::uint32_t i = 0; i < limits_.size(); ++i) {
    const std::string& name = plan_.limits()[i].source->name;
    for (const auto& [label, count] : limits_[i].differences) found.push_back({i, name, plan_.labels()[label], count});
  }
  return found;
}

HardestHit PolicyTally::consumers_of_differences(std::uint32_t limit) const {
  return hardest_hit(limits_[limit].differs);
}

}  // namespace weir::simulate
