// A policy as it was written, each value with its place. The readers of the three formats make these;
// compile() (compile.h) checks them against each other and makes a Ruleset.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "policy/address.h"
#include "policy/mark.h"
#include "policy/route_template.h"
#include "policy/vocabulary.h"
#include "weir/limit.h"

namespace weir::policy {

// The numbers of a limit, in either spelling.
struct NumbersSpec {
  std::optional<Written<Rate>> rate;
  std::optional<Written<std::uint64_t>> burst;
  std::optional<Written<std::uint64_t>> capacity;
  std::optional<Written<Rate>> refill_rate;  // tokens per second
  std::optional<Written<Rate>> leak_rate;
  std::optional<Written<std::uint64_t>> limit;
  std::optional<Written<Duration>> window;  // window_seconds
  std::optional<Written<std::uint64_t>> queue;
};

struct TierOverrideSpec {
  Written<std::string> tier;
  bool unlimited = false;
  NumbersSpec numbers;
};

// What is absent is as in the live limit.
struct CandidateSpec {
  Mark at;
  std::optional<Written<PolicyAlgorithm>> algorithm;
  NumbersSpec numbers;
  std::vector<TierOverrideSpec> tier_overrides;
};

struct RouteCostSpec {
  Written<RouteTemplate> route;
  Written<std::uint64_t> cost;
};

struct HeaderCostSpec {
  Written<std::string> header;
  std::optional<Written<std::uint64_t>> max_cost;
};

// One cost for all, by route, or from a header.
using CostSpec = std::variant<Written<std::uint64_t>, std::vector<RouteCostSpec>, HeaderCostSpec>;

struct WarnFirstSpec {
  Mark at;
  Written<std::uint64_t> count;
  Written<Duration> per;
};

struct PenaltySpec {
  Mark at;
  Written<std::uint64_t> after;
  Written<Duration> within;
  Written<Duration> block;
};

struct LimitSpec {
  Mark at;
  Written<std::string> name;
  std::vector<Written<RouteTemplate>> routes;  // none: every request
  Written<When> when;
  std::optional<Written<ConsumerKey>> consumer_key;
  std::optional<Written<Missing>> missing;
  std::optional<Written<PolicyAlgorithm>> algorithm;
  NumbersSpec numbers;
  std::optional<CostSpec> cost;
  std::vector<TierOverrideSpec> tier_overrides;
  Written<Mode> mode;
  std::optional<CandidateSpec> candidate;
  std::optional<WarnFirstSpec> warn_first;
  std::optional<PenaltySpec> penalty;
  Written<OnStoreFailure> on_store_failure;
  std::optional<Written<std::uint32_t>> local_share;  // in millionths
  Written<Consistency> consistency;
};

struct TiersSpec {
  std::optional<Written<std::string>> from_header;
  Written<std::string> fallback{"default", {}};  // `default` in the file
  std::optional<std::vector<Written<std::string>>> names;
};

// One value of a descriptor of envoyproxy/ratelimit, and what lies below it.
struct DescriptorSpec {
  Mark at;
  std::string key;
  std::optional<std::string> value;  // with `*` anywhere: a wildcard; absent: any, each with its own counter
  bool shadow_mode = false;
  bool share_threshold = false;
  bool detailed_metric = false;
  bool unlimited = false;
  std::optional<Written<WindowNumbers>> rate_limit;
  std::string name;                   // of the rate_limit
  std::vector<std::string> replaces;  // names
  std::vector<DescriptorSpec> descriptors;
};

struct DomainSpec {
  Written<std::string> name;
  std::vector<DescriptorSpec> descriptors;
};

struct PolicySpec {
  Identity identity;
  TiersSpec tiers;
  std::vector<LimitSpec> limits;
  std::vector<DomainSpec> domains;
  std::vector<RouteTemplate> labels;  // routes that are known, limited or not: OpenAPI's operations
};

}  // namespace weir::policy
