#include "engine/plan.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <unordered_map>
#include <utility>

#include "engine/local_share.h"
#include "engine/path.h"
#include "table/together.h"

namespace weir::engine {
namespace {

using store::Purpose;
using store::StateId;

// The graduated responses are limits themselves. Warnings and denials are counted exactly, in a log; a block is a
// bucket of one that takes the whole block to refill.
Limit warnings_limit(const policy::WarnFirst& warn_first) {
  return Limit::sliding_window_log({warn_first.count, warn_first.per}).value();
}
Limit denials_limit(const policy::Penalty& penalty) {
  return Limit::sliding_window_log({penalty.after, penalty.within}).value();
}
Limit block_limit(const policy::Penalty& penalty) {
  return Limit::gcra({{1, penalty.block}, 1}).value();
}

// All descriptors of a domain that have one window share a table: their keys tell them apart, and there may be
// thousands.
StateId live_state_id(const policy::CompiledLimit& limit, const Limit& numbers) {
  return limit.by_descriptor() ? store::state_id(limit.domain, Purpose::descriptors, numbers)
                               : store::state_id(limit.name, Purpose::live, numbers);
}

// The units that a request may override a limit in: second to year.
constexpr std::array override_windows = {Duration{std::chrono::seconds{1}}, Duration{std::chrono::minutes{1}},
                                         Duration{std::chrono::hours{1}},   Duration{std::chrono::days{1}},
                                         Duration{std::chrono::days{7}},    Duration{std::chrono::days{30}},
                                         Duration{std::chrono::days{365}}};

Limit widest_override(Duration window) {
  return Limit::fixed_window({Limit::largest_window_limit, window}).value();
}

// Collects what tables a policy needs; each identity once, with the rules of all tiers.
class Shopping {
 public:
  void want(const StateId& id, const Limit& limit) {
    const auto [at, is_new] = index_.try_emplace(id, list_.size());
    if (is_new) list_.push_back({id, {}});
    list_[at->second].rules.push_back(core::compile(limit));
  }
  void want(const std::string& name, Purpose purpose, const Limit& limit) {
    want(store::state_id(name, purpose, limit), limit);
  }
  [[nodiscard]] const std::vector<store::Wanted>& list() const noexcept { return list_; }

 private:
  std::vector<store::Wanted> list_;
  std::map<StateId, std::size_t> index_;
};

// The dearest request that a limit was configured for.
Cost largest_cost(const policy::CostRule& cost, std::size_t tier) noexcept {
  if (cost.header) return tier < cost.header->most_by_tier.size() ? cost.header->most_by_tier[tier] : Cost{1};
  Cost largest = cost.fixed;
  for (const auto& by_route : cost.by_route) largest = std::max(largest, by_route.cost);
  return largest;
}

Limit local_share(const policy::CompiledLimit& limit, const Limit& numbers, std::size_t tier) noexcept {
  return local_share_of(numbers, limit.local_share, largest_cost(limit.cost, tier));
}

// `rule_of` gives the rule of a tier's numbers.
template <class RuleOf>
TierRules tier_rules(const policy::TieredLimit& tiered, RuleOf rule_of) {
  TierRules rules;
  for (const auto& limit : tiered.by_tier) {
    rules.push_back(limit ? std::optional<TableRule>(rule_of(*limit, rules.size())) : std::nullopt);
  }
  return rules;
}

// On a shared store nobody goes over the states when numbers change: each is brought within reach when it is asked for.
// One consumer may come under several tiers at a time, so what one of them lets him use is within the reach of all.
void bound_reach(TierRules& tiers) {
  Duration longest = Duration::zero();
  for (const auto& tier : tiers) longest = std::max(longest, tier ? core::time_to_fill(tier->rule) : Duration::zero());
  for (auto& tier : tiers) {
    if (tier) core::bound_reach(tier->rule, longest);
  }
}

using LimitsByName = std::unordered_map<std::string_view, const PlannedLimit*>;

LimitsByName limits_by_name(const Plan* plan) {
  LimitsByName limits;
  if (plan == nullptr) return limits;
  for (const PlannedLimit& limit : plan->limits()) limits.emplace(limit.source->name, &limit);
  return limits;
}

bool is_keyed_by_route(const policy::ConsumerKey& key) {
  return std::ranges::any_of(key.alternatives, [](const auto& parts) {
    return std::ranges::find(parts, policy::KeyPart::Kind::route, &policy::KeyPart::kind) != parts.end();
  });
}

bool same_candidate(const policy::CompiledLimit& a, const policy::CompiledLimit& b) {
  return a.candidate && b.candidate && a.candidate->by_tier == b.candidate->by_tier;
}

void keep_estimates(PlannedLimit& limit, const PlannedLimit* before) {
  limit.consumers = before == nullptr ? std::make_shared<RecentDistinct>() : before->consumers;
  const bool same = before != nullptr && same_candidate(*limit.source, *before->source);
  limit.diverging = same ? before->diverging : std::make_shared<DivergingConsumers>();
}

// A request that just fits a route: one that meets no route by chance.
std::string sample_of(const policy::RouteTemplate& route) {
  std::string target;
  for (const policy::Segment& segment : route.segments) target += "/" + (segment.is_literal() ? segment.text : "~");
  return target.empty() ? "/" : target;
}

}  // namespace

Result<std::shared_ptr<Plan>> Plan::create(std::shared_ptr<const policy::Ruleset> ruleset, const PlanOptions& options,
                                           const Plan* previous, store::SavedStates* saved) {
  auto plan = std::make_shared<Plan>();
  plan->ruleset_ = std::move(ruleset);
  plan->shared_keys_ = options.shared_keys;
  if (options.shared_keys) plan->throttle_name_ = options.shared_keys->name({});
  if (auto opened = plan->open_tables(options, previous, saved); !opened) return tl::unexpected(opened.error());
  plan->plan_routes();
  plan->number_rows();
  if (auto bounded = plan->check_bound(); !bounded) return tl::unexpected(bounded.error());
  return plan;
}

TableRule Plan::table_rule(const StateId& id, const Limit& limit) const {
  const auto name = shared_names_.find(id);
  return {core::compile(limit), tables_->find(id), name == shared_names_.end() ? nullptr : &name->second};
}

Result<void> Plan::open_tables(const PlanOptions& options, const Plan* previous, store::SavedStates* saved) {
  Shopping shopping;
  for (const auto& limit : ruleset_->limits) {
    for (std::size_t tier = 0; tier < limit.live.by_tier.size(); ++tier) {
      const auto& numbers = limit.live.by_tier[tier];
      if (!numbers) continue;
      shopping.want(live_state_id(limit, *numbers), *numbers);
      if (shared_keys_) shopping.want(live_state_id(limit, *numbers), local_share(limit, *numbers, tier));
    }
    for (const auto& numbers : limit.candidate ? limit.candidate->by_tier : std::vector<std::optional<Limit>>{}) {
      if (numbers) shopping.want(limit.name, Purpose::candidate, *numbers);
    }
    if (limit.warn_first) shopping.want(limit.name, Purpose::warnings, warnings_limit(*limit.warn_first));
    if (limit.penalty) {
      shopping.want(limit.name, Purpose::denials, denials_limit(*limit.penalty));
      shopping.want(limit.name, Purpose::block, block_limit(*limit.penalty));
    }
  }
  for (const policy::Domain& domain : ruleset_->domains) {
    for (const Duration window : override_windows) {
      shopping.want(domain.name, Purpose::overrides, widest_override(window));
    }
  }
  auto tables = store::Tables::create(shopping.list(), {options.memory_budget, options.hash_key},
                                      previous == nullptr ? nullptr : &previous->tables(), saved);
  if (!tables) return tl::unexpected(tables.error());
  tables_ = std::move(*tables);
  for (const store::Wanted& wanted : shopping.list()) {
    if (shared_keys_) shared_names_.emplace(wanted.id, shared_keys_->name(wanted.id));
  }

  const LimitsByName before = limits_by_name(previous);
  for (const auto& limit : ruleset_->limits) {
    PlannedLimit planned;
    planned.source = &limit;
    planned.keyed_by_route = is_keyed_by_route(limit.consumer_key);
    planned.live = tier_rules(limit.live, [&](const Limit& numbers, std::size_t /*tier*/) {
      return table_rule(live_state_id(limit, numbers), numbers);
    });
    if (shared_keys_) {
      planned.local = tier_rules(limit.live, [&](const Limit& numbers, std::size_t tier) {
        return table_rule(live_state_id(limit, numbers), local_share(limit, numbers, tier));
      });
    }
    if (limit.candidate) {
      planned.candidate = tier_rules(*limit.candidate, [&](const Limit& numbers, std::size_t /*tier*/) {
        return table_rule(store::state_id(limit.name, Purpose::candidate, numbers), numbers);
      });
    }
    if (shared_keys_) {
      bound_reach(planned.live);
      bound_reach(planned.candidate);
    }
    const auto of_purpose = [&](Purpose purpose, const Limit& numbers) {
      return table_rule(store::state_id(limit.name, purpose, numbers), numbers);
    };
    if (limit.warn_first) planned.warnings = of_purpose(Purpose::warnings, warnings_limit(*limit.warn_first));
    if (limit.penalty) {
      planned.denials = of_purpose(Purpose::denials, denials_limit(*limit.penalty));
      planned.block = of_purpose(Purpose::block, block_limit(*limit.penalty));
    }
    const auto known = before.find(limit.name);
    keep_estimates(planned, known == before.end() ? nullptr : known->second);
    by_name_.emplace(limit.name, static_cast<std::uint32_t>(limits_.size()));
    limits_.push_back(std::move(planned));
  }
  return {};
}

void Plan::plan_routes() {
  std::vector<RouteEntry> entries;
  std::unordered_map<std::string, std::uint32_t> known_labels;
  counts_by_label_ = std::ranges::any_of(limits_, [](const PlannedLimit& limit) {
    return limit.keyed_by_route && limit.source->routes.empty() && !limit.source->by_descriptor();
  });
  const auto enter = [&](const policy::RouteTemplate& route, std::uint32_t group, std::uint32_t number) {
    const auto [label, is_new] = known_labels.try_emplace(route.text(), static_cast<std::uint32_t>(labels_.size()));
    if (is_new) labels_.push_back(label->first);
    const bool counts_apart = group == label_group() ? counts_by_label_ : limits_[group / 2].keyed_by_route;
    entries.push_back({route, group, group % 2 == 0 && counts_apart});
    meanings_.push_back({number, label->second});
    if (!is_new || !counts_by_label_ || group == label_group()) return;
    entries.push_back({route, label_group(), true});
    meanings_.push_back({0, label->second});
  };
  for (std::uint32_t i = 0; i < limits_.size(); ++i) {
    const policy::CompiledLimit& limit = *limits_[i].source;
    if (limit.by_descriptor()) continue;
    if (limit.routes.empty()) everywhere_.push_back(i);
    for (std::uint32_t r = 0; r < limit.routes.size(); ++r) {
      enter(limit.routes[r], coverage_group(i), r);
      limits_[i].route_names.push_back(limit.routes[r].text());
    }
    limits_[i].route_names.emplace_back(other);
    for (std::uint32_t r = 0; r < limit.cost.by_route.size(); ++r) {
      enter(limit.cost.by_route[r].route, cost_group(i), r);
    }
  }
  for (const policy::RouteTemplate& label : ruleset_->labels) {
    if (!counts_by_label_ || !known_labels.contains(label.text())) enter(label, label_group(), 0);
  }
  labels_.emplace_back(other);
  routes_ = RouteTree::build(entries);
}

// Looks at what each route meets. Routes that cross each other may still meet more: such a request is denied.
Result<void> Plan::check_bound() const {
  const auto is_live = [&](std::uint32_t limit) {
    return limit < limits_.size() && limits_[limit].source->mode == policy::Mode::enforce;
  };
  const auto everywhere = static_cast<std::size_t>(std::ranges::count_if(everywhere_, is_live));
  PathReader paths;
  Matches matches(*routes_);
  const auto check = [&](const policy::RouteTemplate& route) -> Result<void> {
    routes_->match(route.method.value_or("GET"), paths.read(sample_of(route)), matches);
    const auto covering = static_cast<std::size_t>(std::ranges::count_if(
        matches.all(), [&](const RouteMatch& match) { return match.limit % 2 == 0 && is_live(match.limit / 2); }));
    if (everywhere + covering <= table::most_together) return {};
    return failure("limits", "'" + route.text() + "' is covered by " + std::to_string(everywhere + covering) +
                                 " limits, and at most " + std::to_string(table::most_together) +
                                 " are judged together: let fewer limits cover it");
  };
  if (auto bounded = check({}); !bounded) return bounded;
  for (const PlannedLimit& limit : limits_) {
    for (const policy::RouteTemplate& route : limit.source->routes) {
      if (auto bounded = check(route); !bounded) return bounded;
    }
  }
  return {};
}

void Plan::number_rows() {
  for (PlannedLimit& limit : limits_) {
    limit.first_row = rows_;
    rows_ += routes_of(limit).size();
  }
}

std::optional<std::uint32_t> Plan::find_limit(std::string_view name) const noexcept {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? std::nullopt : std::optional(found->second);
}

table::Table* Plan::override_table(const policy::Domain& domain, Duration window) const noexcept {
  return tables_->find({domain.name, Purpose::overrides, Algorithm::fixed_window, window});
}

const store::SharedName* Plan::override_name(const policy::Domain& domain, Duration window) const noexcept {
  const auto name = shared_names_.find({domain.name, Purpose::overrides, Algorithm::fixed_window, window});
  return name == shared_names_.end() ? nullptr : &name->second;
}

std::span<const std::string> Plan::routes_of(const PlannedLimit& limit) const noexcept {
  return limit.source->routes.empty() ? std::span(labels_) : std::span(limit.route_names);
}

}  // namespace weir::engine
