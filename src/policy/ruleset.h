// A policy, checked and compiled: immutable, and shared by all that decide by it. Made by load_text() and load_path()
// (load.h).
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

// A rate as it was written: a Limit that is a bucket keeps it in lowest terms.
struct WrittenRate {
  Rate rate;
  bool per_second = false;  // a decimal number of tokens per second, `refill_rate: 0.05`
  bool per_week = false;    // seven days by the word
};

// The numbers for each tier: those of the limit, unless the tier has its own. Empty: unlimited, or banned.
// All have one algorithm; windows may differ between tiers, and then the states do too.
struct TieredLimit {
  std::vector<std::optional<Limit>> by_tier;      // one for each of Tiers::names
  std::vector<bool> banned;                       // likewise, or empty if none is: the tier is denied outright
  std::vector<std::optional<WrittenRate>> rates;  // likewise, or empty: of buckets, for people only

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
  bool is_written = false;           // then the caller's cost is not asked for
  Cost fixed{1};                     // where nothing below says otherwise
  std::vector<RouteCost> by_route;   // the most specific one counts
  std::optional<HeaderCost> header;  // believed from a trusted proxy only
};

struct CompiledLimit {
  Mark at;
  std::string name;
  std::vector<RouteTemplate> routes;  // none: every request
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
  std::optional<std::uint32_t> local_share;  // in millionths; none: 1 / nodes, at most a half
  ConsistencyChoice consistency;
  std::optional<Usage> usage;  // none: callers may do as they like

  // The domain of a limit that is reached by descriptors only, never by a route; empty for all others.
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

// A node of the tree of descriptors. Match per level: the exact value, then wildcards in file order, then any.
struct Descriptor : DescriptorFields {
  enum class Value : std::uint8_t { exact, wildcard, any };

  Value kind = Value::any;
  std::string value;
  std::optional<Duration> banned_per;  // nothing per this unit: always over. Its limit bans its one tier
  std::optional<std::uint32_t> limit;  // of Ruleset::limits
  std::vector<Descriptor> children;
};

struct Domain {
  std::string name;
  std::vector<Descriptor> descriptors;
  bool charges_denied = false;  // a denied call charges all of its descriptors, as weir.yaml has it
};

struct Ruleset {
  Identity identity;
  Tiers tiers;
  std::vector<CompiledLimit> limits;  // in file order
  std::vector<Domain> domains;
  std::vector<RouteTemplate> labels;  // known routes beyond those of the limits
  std::string digest;                 // names the meaning: the same for two texts that mean the same
};

}  // namespace weir::policy
