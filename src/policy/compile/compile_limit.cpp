#include "policy/compile/compile.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "policy/compile/numbers.h"
#include "policy/tools/strictness.h"
#include "text/yaml/scalar.h"

namespace weir::policy {
namespace {

// Finds duplicate routes, which differ at most in the names of their parameters.
class SeenRoutes {
 public:
  // Returns the position of an equal route that was added before.
  std::optional<Mark> add(const Written<RouteTemplate>& route) {
    const auto [seen, is_new] = seen_.try_emplace(match_key(route.value), route.at);
    if (is_new) return {};
    return seen->second;
  }

 private:
  std::unordered_map<std::string, Mark> seen_;
};

void check_all_fields(const NumbersSpec& numbers, const std::vector<TierOverrideSpec>& overrides,
                      PolicyAlgorithm algorithm, LimitFields fields, Problems& problems) {
  check_fields(numbers, algorithm, fields, problems);
  for (const TierOverrideSpec& spec : overrides) check_fields(spec.numbers, algorithm, fields, problems);
}

bool is_plain_bucket(const Limit& limit) {
  return limit.algorithm() <= Algorithm::leaky_bucket_meter;
}

// Token bucket, GCRA and the leaky bucket without a queue share one arithmetic.
bool decides_alike(const std::optional<Limit>& a, const std::optional<Limit>& b) {
  if (!a || !b) return !a && !b;
  if (is_plain_bucket(*a) && is_plain_bucket(*b)) return a->rate() == b->rate() && a->capacity() == b->capacity();
  return a == b;
}

// A candidate has no numbers for a banned tier, because there is nothing to compare.
void copy_bans(const TieredLimit& live, TieredLimit& candidate) {
  candidate.banned = live.banned;
  for (std::size_t tier = 0; tier < candidate.by_tier.size(); ++tier) {
    if (!live.bans(tier)) continue;
    candidate.by_tier[tier].reset();
    candidate.rates[tier].reset();
  }
}

// If the last alternative is a header or an unverified identity, skipping would let a client bypass the limit by
// omitting it.
Missing missing_by_default(const ConsumerKey& key, const Identity& identity) {
  const bool is_optional = std::ranges::any_of(key.alternatives.back(), [&](const KeyPart& part) {
    return part.kind == KeyPart::Kind::header ||
           (part.kind == KeyPart::Kind::identity && !identity.is_verified(part.name));
  });
  return is_optional ? Missing::share : Missing::skip;
}

void compile_routes(const LimitSpec& spec, CompiledLimit& limit, Problems& problems) {
  SeenRoutes seen;
  for (const auto& route : spec.routes) {
    if (const auto before = seen.add(route)) {
      problems.error(route.at, "duplicate route {}: first listed in line {}", in_quotes(route.value.text()),
                     before->line);
    }
    limit.routes.push_back(route.value);
  }
}

// Reports routes that exclude nothing, and lists that exclude everything.
void compile_except(const LimitSpec& spec, CompiledLimit& limit, Problems& problems) {
  for (const auto& route : spec.except) {
    const bool is_reached = spec.routes.empty() || std::ranges::any_of(spec.routes, [&](const auto& own) {
                              return overlap(own.value, route.value);
                            });
    if (!is_reached) {
      problems.error(route.at, "except {}: no route of the limit matches it", in_quotes(route.value.text()));
    }
    limit.except.push_back(route.value);
  }
  if (!spec.except.empty() && covers_routes(limit.except, limit.routes)) {
    problems.error(spec.except.front().at, "except excludes every route of the limit: it would never apply");
  }
}

// Reports fields that have no meaning where no request is admitted.
void check_beside_ban(const LimitSpec& spec, Problems& problems) {
  if (!spec.numbers.ban) return;
  const auto refuse = [&](Mark at, std::string_view what, std::string_view why) {
    problems.error(at, "{} cannot be combined with 'rate: 0' (a ban): {}", what, why);
  };
  if (spec.mode.value == Mode::shadow) {
    refuse(spec.mode.at, "mode: shadow", "every request would count as denied");
  }
  if (spec.candidate) refuse(spec.candidate->at, "a candidate", "there are no numbers to compare");
  if (spec.warn_first) refuse(spec.warn_first->at, "warn_first", "every request is denied");
  if (spec.penalty) refuse(spec.penalty->at, "penalty", "every request is denied");
  if (spec.max_reserve) refuse(spec.max_reserve->at, "max_reserve", "every request is denied");
}

// Reports fields that have no meaning for holds, which are always counted exactly, in one store, and by receipt.
void check_beside_concurrency(const LimitSpec& spec, Problems& problems) {
  if (!spec.algorithm || spec.algorithm->value != PolicyAlgorithm::concurrency) return;
  const auto refuse = [&](Mark at, std::string_view what, std::string_view why) {
    problems.error(at, "{} cannot be combined with 'algorithm: concurrency': {}", what, why);
  };
  if (spec.consistency.value.kind != Consistency::exact) {
    refuse(spec.consistency.at, fmt::format("consistency: {}", name_of(spec.consistency.value.kind)),
           "a concurrency limit is always exact; remove the field");
  }
  if (spec.warn_first) {
    refuse(spec.warn_first->at, "warn_first", "a request admitted with a warning would exceed the limit");
  }
  if (spec.usage) {
    refuse(spec.usage->at, fmt::format("usage: {}", name_of(spec.usage->value)),
           "requests are always held and released; remove it");
  }
  if (spec.max_reserve) {
    refuse(spec.max_reserve->at, "max_reserve", "callers cannot choose how much a request holds; remove it");
  }
}

// A limit with a configured cost does not accept another cost later.
void check_usage(const LimitSpec& spec, Problems& problems) {
  if (!spec.usage || !spec.cost) return;
  problems.error(spec.usage->at,
                 "usage: {} cannot be combined with cost: the configured cost applies, whatever is {} later; remove "
                 "one of them",
                 name_of(spec.usage->value), spec.usage->value == Usage::reported ? "reported" : "settled");
}

void check_local_share(const LimitSpec& spec, Problems& problems) {
  if (!spec.local_share || spec.on_store_failure.value == OnStoreFailure::local) return;
  problems.error(spec.local_share->at, "local_share requires on_store_failure: local, not {}",
                 name_of(spec.on_store_failure.value));
}

struct NamedCost {
  Written<std::uint64_t> cost;
  std::string_view field;
};

std::vector<NamedCost> costs_in(const LimitSpec& spec) {
  if (!spec.cost) return {};  // every limit admits the default of one
  if (const auto* fixed = std::get_if<Written<std::uint64_t>>(&*spec.cost)) return {{*fixed, "cost"}};
  std::vector<NamedCost> costs;
  if (const auto* header = std::get_if<HeaderCostSpec>(&*spec.cost)) {
    if (header->max_cost) costs.push_back({*header->max_cost, "max_cost"});
    return costs;
  }
  for (const RouteCostSpec& by_route : std::get<std::vector<RouteCostSpec>>(*spec.cost)) {
    costs.push_back({by_route.cost, "cost"});
  }
  return costs;
}

std::string_view capacity_name(Algorithm algorithm) {
  if (algorithm == Algorithm::leaky_bucket_queue) return "queue capacity";
  return algorithm < Algorithm::fixed_window ? "burst" : "limit";
}

HeaderCost compile_header(const HeaderCostSpec& spec, const TieredLimit& live) {
  HeaderCost header{spec.header.value, {}};
  for (const auto& limit : live.by_tier) {
    const std::uint64_t burst = limit ? limit->capacity() : 1;
    header.max_by_tier.emplace_back(spec.max_cost ? spec.max_cost->value : burst);
  }
  return header;
}

std::vector<RouteCost> compile_route_costs(const std::vector<RouteCostSpec>& specs, const LimitSpec& limit,
                                           Problems& problems) {
  std::vector<RouteCost> costs;
  SeenRoutes seen;
  std::size_t uncovered = 0;
  for (const auto& [route, cost] : specs) {
    if (const auto before = seen.add(route)) {
      problems.error(route.at, "duplicate cost of {}: first set in line {}", in_quotes(route.value.text()),
                     before->line);
    }
    const bool reached =
        limit.routes.empty() || std::ranges::any_of(limit.routes, [&wanted = route.value](const auto& own) {
          return overlap(own.value, wanted);
        });
    if (!reached && uncovered++ < Problems::max_listed) {
      problems.error(route.at, "cost of {}: no route of the limit matches it", in_quotes(route.value.text()));
    }
    if (uncovered >= Problems::max_listed) break;
    costs.push_back({route.value, Cost{cost.value}});
  }
  return costs;
}

// Reports costs that could never be admitted. `whose` is "" or "candidate's ".
void check_costs(const LimitSpec& spec, const TieredLimit& limits, const Tiers& tiers, std::string_view whose,
                 Problems& problems) {
  // Errors name the tightest tier; the default comes first among equals.
  std::size_t tightest = tiers.names.size();
  for (std::size_t tier = 0; tier < limits.by_tier.size(); ++tier) {
    const auto& limit = limits.by_tier[tier];
    if (!limit) continue;
    if (tightest == tiers.names.size() || limit->capacity() < limits.by_tier[tightest]->capacity()) tightest = tier;
  }
  if (tightest == tiers.names.size()) return;
  const Limit& limit = *limits.by_tier[tightest];
  const std::string of_tier = tightest == 0 ? "" : fmt::format(" for tier {}", in_quotes(tiers.names[tightest]));
  for (const auto& [cost, field] : costs_in(spec)) {
    if (cost.value <= limit.capacity()) continue;
    problems.error(cost.at, "{} {} exceeds the {}{} of {}{}: it could never be admitted", field, cost.value, whose,
                   capacity_name(limit.algorithm()), limit.capacity(), of_tier);
  }
}

// Reports a bound on reservations that denies all of them, or none.
void check_max_reserve(const LimitSpec& spec, const TieredLimit& live, Problems& problems) {
  if (!spec.max_reserve) return;
  const auto& [max_reserve, at] = *spec.max_reserve;
  if (spec.usage && spec.usage->value == Usage::reported) {
    problems.error(at, "max_reserve cannot be combined with usage: reported: nothing is reserved; remove one of them");
  }
  for (const auto& [cost, field] : costs_in(spec)) {
    if (cost.value > max_reserve) {
      problems.error(cost.at, "{} {} exceeds the max_reserve of {}: it could never be reserved", field, cost.value,
                     max_reserve);
    }
  }
  const auto is_bounded = [&, most = max_reserve](const std::optional<Limit>& limit) {
    return limit && most < limit->capacity();
  };
  if (std::ranges::none_of(live.by_tier, is_bounded)) {
    problems.error(at,
                   "max_reserve {} has no effect: no reservation can exceed the burst or limit; lower it or remove it",
                   max_reserve);
  }
}

// Costs are checked against the live numbers and the routes of the limit.
CostRule compile_cost(const LimitSpec& spec, const TieredLimit& live, const Tiers& tiers, Problems& problems) {
  CostRule rule;
  check_costs(spec, live, tiers, "", problems);
  // A caller cannot choose how many units a request holds.
  rule.is_written = spec.cost || (spec.algorithm && spec.algorithm->value == PolicyAlgorithm::concurrency);
  if (!spec.cost) return rule;
  if (const auto* fixed = std::get_if<Written<std::uint64_t>>(&*spec.cost)) {
    rule.fixed = Cost{fixed->value};
  } else if (const auto* header = std::get_if<HeaderCostSpec>(&*spec.cost)) {
    rule.header = compile_header(*header, live);
  } else {
    rule.by_route = compile_route_costs(std::get<std::vector<RouteCostSpec>>(*spec.cost), spec, problems);
  }
  return rule;
}

void compile_candidate(const LimitSpec& spec, const Numbered& live, NamedTiers named, LimitFields fields,
                       CompiledLimit& limit, Problems& problems) {
  const CandidateSpec& own = *spec.candidate;
  const Tiers& tiers = named.tiers;
  Numbered candidate;
  candidate.algorithm = own.algorithm ? own.algorithm->value : live.algorithm;
  const std::size_t errors = problems.errors();
  const bool is_held = candidate.algorithm == PolicyAlgorithm::concurrency;
  if (is_held != (live.algorithm == PolicyAlgorithm::concurrency)) {
    problems.error(own.algorithm->at,
                   "a {} candidate cannot be compared with a {} limit: only one of them counts requests in flight",
                   name_of(candidate.algorithm), name_of(live.algorithm));
    return;
  }
  check_all_fields(own.numbers, own.tier_overrides, candidate.algorithm, fields, problems);
  Numbers base = live.numbers;
  if (candidate.algorithm != PolicyAlgorithm::leaky_bucket) base.queue.reset();
  candidate.numbers = inherited(numbers_of(own.numbers), base);
  candidate.overrides_of_another = own.tier_overrides.empty();
  candidate.overrides = own.tier_overrides.empty() ? live.overrides : find_tiers(own.tier_overrides, named, problems);
  if (problems.errors() > errors) return;
  limit.candidate = compile_tiers(candidate, tiers, {own.at, "candidate: "}, problems);
  if (!limit.candidate) return;
  limit.candidate_algorithm = candidate.algorithm;
  copy_bans(limit.live, *limit.candidate);
  check_costs(spec, *limit.candidate, tiers, "candidate's ", problems);
  const auto& a = limit.candidate->by_tier;
  const auto& b = limit.live.by_tier;
  if (std::ranges::equal(a, b, decides_alike)) {
    problems.error(own.at, "the candidate decides exactly as its limit does: there is nothing to compare");
  }
}

}  // namespace

std::optional<CompiledLimit> compile_limit(const LimitSpec& spec, const PolicySpec& policy, const Tiers& tiers,
                                           LimitFields fields, Problems& problems) {
  const std::size_t errors = problems.errors();
  if (!spec.algorithm && !spec.needs_no_algorithm()) problems.error(spec.at, "missing algorithm");
  if (!spec.consumer_key) problems.error(spec.at, "missing consumer_key");
  if (problems.errors() > errors) return {};

  CompiledLimit limit;
  limit.at = spec.at;
  limit.algorithm = PolicyAlgorithm::fixed_window;  // the placeholder for a ban, which needs no algorithm
  for (const LimitField& field : fields) {
    if (field.use.compile) field.use.compile(spec, limit);
  }
  if (!spec.missing) limit.missing = missing_by_default(limit.consumer_key, policy.identity);
  compile_routes(spec, limit, problems);
  compile_except(spec, limit, problems);
  check_local_share(spec, problems);

  const NamedTiers named{tiers, policy.names.tiers};
  const Numbered live{.algorithm = limit.algorithm,
                      .numbers = numbers_of(spec.numbers),
                      .banned = spec.numbers.ban.has_value(),
                      .overrides = find_tiers(spec.tier_overrides, named, problems)};
  const std::size_t before_numbers = problems.errors();
  check_beside_ban(spec, problems);
  check_beside_concurrency(spec, problems);
  check_usage(spec, problems);
  check_all_fields(spec.numbers, spec.tier_overrides, limit.algorithm, fields, problems);
  if (problems.errors() > before_numbers) return {};
  auto numbers = compile_tiers(live, tiers, {spec.at, ""}, problems);
  if (!numbers) return {};
  limit.live = *std::move(numbers);
  limit.cost = compile_cost(spec, limit.live, tiers, problems);
  check_max_reserve(spec, limit.live, problems);
  if (spec.candidate) compile_candidate(spec, live, named, fields, limit, problems);
  if (problems.errors() > errors) return {};
  return limit;
}

}  // namespace weir::policy
