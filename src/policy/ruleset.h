// A compiled policy, made by load_text() and load_path() (load.h). Immutable and shared between threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/route_template.h"
#include "policy/vocabulary.h"
#include "text/yaml/problem.h"
#include "weir/cost.h"
#include "weir/limit.h"

namespace weir::policy {

// A rate as written. A bucket's Limit stores it in lowest terms only.
struct WrittenRate {
  Rate rate;
  bool per_second = false;  // a decimal number of tokens per second, `refill_rate: 0.05`
  bool per_week = false;    // written as `/week`
};

// The numbers of each tier: its own, or those of the limit. Unset: unlimited or banned. All tiers have one algorithm;
// if their windows differ, they have separate states.
struct TieredLimit {
  std::vector<std::optional<Limit>> by_tier;      // one for each of Tiers::names
  std::vector<bool> banned;                       // one for each tier, or empty if no tier is banned
  std::vector<std::optional<WrittenRate>> rates;  // one for each tier, or empty; set for buckets only, for messages

  [[nodiscard]] bool bans(std::size_t tier) const noexcept { return tier < banned.size() && banned[tier]; }
};

struct RouteCost {
  RouteTemplate route;
  Cost cost;
};

struct HeaderCost {
  std::string header;             // lower case
  std::vector<Cost> max_by_tier;  // max_cost, or the burst of the tier
};

struct CostRule {
  bool is_written = false;           // the caller's cost is ignored
  Cost fixed{1};                     // cost of a request to which neither of the following applies
  std::vector<RouteCost> by_route;   // costs by route; the most specific route applies
  std::optional<HeaderCost> header;  // read from trusted proxies only
};

struct CompiledLimit {
  Mark at;
  std::string name;
  std::vector<RouteTemplate> routes;  // empty: every request
  std::vector<RouteTemplate> except;  // routes that the limit does not cover
  When when;
  ConsumerKey consumer_key;
  Missing missing = Missing::skip;
  PolicyAlgorithm algorithm = PolicyAlgorithm::token_bucket;
  TieredLimit live;
  CostRule cost;
  Mode mode = Mode::enforce;
  std::optional<PolicyAlgorithm> candidate_algorithm;
  std::optional<TieredLimit> candidate;
  std::optional<WarnFirst> warn_first;
  std::optional<Penalty> penalty;
  OnStoreFailure on_store_failure = OnStoreFailure::local;
  std::optional<std::uint32_t> local_share;  // in millionths; unset: 1 / nodes, at most a half
  ConsistencyChoice consistency;
  std::optional<Usage> usage;                // unset: callers choose
  std::optional<std::uint64_t> max_reserve;  // the maximum cost of one reservation

  // Set for a limit that only descriptors can match, never a route.
  std::string domain;
  [[nodiscard]] bool by_descriptor() const noexcept { return !domain.empty(); }
};

struct Tiers {
  std::optional<std::string> from_header;  // lower case
  std::vector<std::string> names;          // the first is the default

  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view name) const noexcept {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) return {};
    return static_cast<std::uint32_t>(found - names.begin());
  }
};

// A node of the tree of descriptors. Each level matches the exact value first, then wildcards in file order, then any.
struct Descriptor : DescriptorFields {
  enum class Value : std::uint8_t { exact, wildcard, any };

  Value kind = Value::any;
  std::string value;
  std::optional<Duration> banned_per;  // the unit of a ban (requests_per_unit: 0)
  std::optional<std::uint32_t> limit;  // index in Ruleset::limits
  std::vector<Descriptor> children;
};

struct Domain {
  std::string name;
  std::vector<Descriptor> descriptors;
  bool charges_denied = false;  // true if a denied call charges all of its descriptors; set by weir.yaml
};

struct Ruleset {
  Identity identity;
  Exemptions exemptions;
  Tiers tiers;
  std::vector<CompiledLimit> limits;  // in file order
  std::vector<Domain> domains;
  std::vector<RouteTemplate> labels;  // known routes beyond those of the limits
  std::string digest;                 // the same for texts with the same meaning
};

}  // namespace weir::policy
