// A Ruleset made ready to judge by: routes in a tree, rules for each tier, and the tables that hold the states.
// Immutable once in use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/rule.h"
#include "engine/recent_distinct.h"
#include "engine/route_tree.h"
#include "policy/ruleset.h"
#include "store/local/tables.h"
#include "store/shared/shared_keys.h"
#include "table/hash_key.h"
#include "table/table.h"
#include "weir/result.h"

namespace weir::engine {

// Numbers, and the table with the states that they apply to.
struct TableRule {
  core::Rule rule;
  table::Table* table = nullptr;
  const store::SharedName* name = nullptr;  // of the states on a shared store; null: there is none
};

using TierRules = std::vector<std::optional<TableRule>>;  // by tier; empty: unlimited

// The rule of a tier; null if there is none.
[[nodiscard]] inline const TableRule* rule_of(const TierRules& rules, std::uint32_t tier) noexcept {
  return tier < rules.size() && rules[tier] ? &*rules[tier] : nullptr;
}

// How many consumers a candidate would treat differently from its live limit.
struct DivergingConsumers {
  DistinctEstimate newly_denied;
  DistinctEstimate newly_admitted;
};

struct PlannedLimit {
  const policy::CompiledLimit* source = nullptr;
  TierRules live;
  TierRules candidate;  // none: no candidate
  TierRules local;      // what this process admits while the shared store is away; none: there is no such store
  std::optional<TableRule> warnings;
  std::optional<TableRule> denials;
  std::optional<TableRule> block;
  bool keyed_by_route = false;
  std::size_t first_row = 0;             // of the counters: one row for each of Plan::routes_of
  std::vector<std::string> route_names;  // of its own routes, and `other`

  // Estimates of how many consumers there were, kept over reloads; those of a candidate while it stays the same.
  std::shared_ptr<RecentDistinct> consumers;
  std::shared_ptr<DivergingConsumers> diverging;
};

struct PlanOptions {
  std::size_t memory_budget = std::size_t{256} << 20;
  table::HashKey hash_key;
  // How states are called on a shared store. None: all states are this process's own.
  std::shared_ptr<const store::SharedKeys> shared_keys = nullptr;
};

class Plan {
 public:
  static constexpr std::string_view other = "other";

  // `previous` may be null. Its states are taken over; after Tables::move_states, if that is due. `saved` may be null.
  static Result<std::shared_ptr<Plan>> create(std::shared_ptr<const policy::Ruleset> ruleset,
                                              const PlanOptions& options, const Plan* previous,
                                              store::SavedStates* saved = nullptr);

  // Null: all states are this process's own.
  [[nodiscard]] const store::SharedKeys* shared_keys() const noexcept { return shared_keys_.get(); }
  // What the states of CL.THROTTLE are called there: like those of a limit without a name.
  [[nodiscard]] const store::SharedName& throttle_name() const noexcept { return throttle_name_; }

  [[nodiscard]] const policy::Ruleset& ruleset() const noexcept { return *ruleset_; }
  [[nodiscard]] const RouteTree& routes() const noexcept { return *routes_; }
  [[nodiscard]] const std::vector<PlannedLimit>& limits() const noexcept { return limits_; }
  [[nodiscard]] std::optional<std::uint32_t> find_limit(std::string_view name) const noexcept;
  [[nodiscard]] store::Tables& tables() const noexcept { return *tables_; }

  // The counters for limits that a request brings along; null if `window` is no unit that it can be in.
  [[nodiscard]] table::Table* override_table(const policy::Domain& domain, Duration window) const noexcept;
  // What they are called on a shared store; null if there is none.
  [[nodiscard]] const store::SharedName* override_name(const policy::Domain& domain, Duration window) const noexcept;

  // Limits that cover every route, in file order.
  [[nodiscard]] const std::vector<std::uint32_t>& everywhere() const noexcept { return everywhere_; }

  // What an entry of the route tree is there for. Its groups are numbered so that each limit has one for what it
  // covers and one for what it charges by route.
  struct EntryMeaning {
    std::uint32_t route = 0;  // of the limit's routes, or of its costs by route
    std::uint32_t label = 0;
  };
  [[nodiscard]] static std::uint32_t coverage_group(std::uint32_t limit) noexcept { return 2 * limit; }
  [[nodiscard]] static std::uint32_t cost_group(std::uint32_t limit) noexcept { return 2 * limit + 1; }
  // The group of known routes that no limit has; where counters go by label, of all known routes.
  [[nodiscard]] std::uint32_t label_group() const noexcept {
    return coverage_group(static_cast<std::uint32_t>(limits_.size()));
  }
  [[nodiscard]] const EntryMeaning& meaning_of(std::uint32_t entry) const noexcept { return meanings_[entry]; }

  // Whether a limit without routes has counters for each route: then they go by label.
  [[nodiscard]] bool counts_by_label() const noexcept { return counts_by_label_; }

  // What routes are called; the last one is `other`.
  [[nodiscard]] const std::vector<std::string>& labels() const noexcept { return labels_; }
  [[nodiscard]] std::uint32_t other_label() const noexcept { return static_cast<std::uint32_t>(labels_.size() - 1); }

  // The routes that a limit is counted by: its own, or for a limit without routes all labels; the last is `other`.
  [[nodiscard]] std::span<const std::string> routes_of(const PlannedLimit& limit) const noexcept;

  // How many rows the counters have.
  [[nodiscard]] std::size_t rows() const noexcept { return rows_; }

 private:
  Result<void> open_tables(const PlanOptions& options, const Plan* previous, store::SavedStates* saved);
  [[nodiscard]] TableRule table_rule(const store::StateId& id, const Limit& limit) const;
  void plan_routes();
  void number_rows();
  [[nodiscard]] Result<void> check_bound() const;

  std::shared_ptr<const policy::Ruleset> ruleset_;
  std::unique_ptr<store::Tables> tables_;
  std::shared_ptr<const store::SharedKeys> shared_keys_;
  std::map<store::StateId, store::SharedName> shared_names_;
  store::SharedName throttle_name_;
  std::optional<RouteTree> routes_;  // there once the plan is made
  std::vector<PlannedLimit> limits_;
  std::unordered_map<std::string_view, std::uint32_t> by_name_;
  std::vector<std::uint32_t> everywhere_;
  std::vector<std::string> labels_;
  std::vector<EntryMeaning> meanings_;
  bool counts_by_label_ = false;
  std::size_t rows_ = 0;
};

}  // namespace weir::engine
