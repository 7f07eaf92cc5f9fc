// A policy as written, with the position of each value. The readers of the three formats produce it; compile()
// (compile.h) validates it and makes a Ruleset.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/calendar.h"
#include "policy/route_template.h"
#include "policy/vocabulary.h"
#include "text/address.h"
#include "text/yaml/problem.h"
#include "weir/limit.h"

namespace weir::policy {

// The numbers of a limit, in either spelling.
struct NumbersSpec {
  std::optional<Mark> ban;  // `rate: 0`: no request is admitted, and there is no other number
  std::optional<Written<Rate>> rate;
  std::optional<core::CalendarUnit> rate_unit;  // unit of `rate` if it is week, month or year
  std::optional<Written<std::uint64_t>> burst;
  std::optional<Written<std::uint64_t>> capacity;
  std::optional<Written<Rate>> refill_rate;  // tokens per second
  std::optional<Written<Rate>> leak_rate;
  std::optional<Written<std::uint64_t>> limit;
  std::optional<Written<Duration>> window;                 // window_seconds
  std::optional<Written<const core::Calendar*>> calendar;  // window
  std::optional<Written<std::uint64_t>> queue;
  std::optional<Written<Duration>> lease;
};

struct TierOverrideSpec {
  Written<std::string> tier;
  bool unlimited = false;
  bool banned = false;  // written as `banned`; `rate: 0` means the same
  NumbersSpec numbers;

  [[nodiscard]] bool bans() const noexcept { return banned || numbers.ban; }
  [[nodiscard]] bool has_numbers() const noexcept { return !unlimited && !bans(); }
};

// Absent values are inherited from the live limit.
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

// A fixed cost, costs by route, or a cost from a header.
using CostSpec = std::variant<Written<std::uint64_t>, std::vector<RouteCostSpec>, HeaderCostSpec>;

struct LimitSpec {
  Mark at;
  Written<std::string> name;
  std::vector<Written<RouteTemplate>> routes;  // empty: every request
  std::vector<Written<RouteTemplate>> except;
  Written<When> when;
  std::optional<Written<ConsumerKey>> consumer_key;
  std::optional<Written<Missing>> missing;
  std::optional<Written<PolicyAlgorithm>> algorithm;
  NumbersSpec numbers;
  std::optional<CostSpec> cost;
  std::vector<TierOverrideSpec> tier_overrides;
  Written<Mode> mode;
  std::optional<CandidateSpec> candidate;
  std::optional<Written<WarnFirst>> warn_first;
  std::optional<Written<Penalty>> penalty;
  Written<OnStoreFailure> on_store_failure;
  std::optional<Written<std::uint32_t>> local_share;  // in millionths
  Written<ConsistencyChoice> consistency;
  std::optional<Written<Usage>> usage;
  std::optional<Written<std::uint64_t>> max_reserve;

  // A ban counts nothing, so it needs no algorithm unless some tiers have numbers.
  [[nodiscard]] bool needs_no_algorithm() const noexcept {
    return numbers.ban &&
           std::ranges::none_of(tier_overrides, [](const TierOverrideSpec& each) { return each.has_numbers(); });
  }
};

struct TiersSpec {
  std::optional<Written<std::string>> from_header;
  Written<std::string> fallback{"default", {}};  // `default` in the file
  std::optional<std::vector<Written<std::string>>> names;
};

// A descriptor of envoyproxy/ratelimit and its children.
struct DescriptorSpec : DescriptorFields {
  Mark at;
  std::optional<std::string> value;  // a wildcard if it contains `*`; if absent, any value, each with its own counter
  bool detailed_metric = false;
  std::optional<Mark> value_to_metric;               // position of `value_to_metric: true`
  std::optional<Written<WindowNumbers>> rate_limit;  // a limit of 0 is a ban
  std::vector<DescriptorSpec> descriptors;
};

struct DomainSpec {
  Written<std::string> name;
  std::vector<DescriptorSpec> descriptors;
};

// The names of the root fields, which differ in an OpenAPI document.
struct RootNames {
  std::string_view identity = "identity";
  std::string_view tiers = "tiers";
  std::string_view exempt = "exempt";
};

struct PolicySpec {
  RootNames names;
  Identity identity;
  Exemptions exemptions;
  TiersSpec tiers;
  std::vector<LimitSpec> limits;
  std::vector<DomainSpec> domains;
  std::vector<RouteTemplate> labels;    // known routes, limited or not: OpenAPI's operations
  std::vector<std::string> charge_all;  // domains whose denied calls charge all of their descriptors
};

}  // namespace weir::policy
