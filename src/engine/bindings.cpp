#include "engine/bindings.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "engine/outage_share.h"
#include "engine/receipt.h"
#include "policy/consistency.h"
#include "table/together.h"

namespace weir::engine {
namespace {

using store::Purpose;
using store::StateId;

// Graduated responses are themselves limits. Warnings and denials are counted exactly, in a log. A block is a bucket
// with one token that takes the length of the block to refill.
Limit warnings_limit(const policy::WarnFirst& warn_first) {
  return Limit::sliding_window_log({warn_first.count, warn_first.per}).value();
}
Limit denials_limit(const policy::Penalty& penalty) {
  return Limit::sliding_window_log({penalty.after, penalty.within}).value();
}
Limit block_limit(const policy::Penalty& penalty) {
  return Limit::gcra({{1, penalty.block}, 1}).value();
}

// Descriptors of a domain with the same window share a table, since there may be thousands; their keys differ.
StateId live_state_id(const policy::CompiledLimit& limit, const Limit& numbers) {
  return limit.by_descriptor() ? store::state_id(limit.domain, Purpose::descriptors, numbers)
                               : store::state_id(limit.name, Purpose::live, numbers);
}

// The units that an override may have: second to year.
constexpr std::array override_windows = {Duration{std::chrono::seconds{1}}, Duration{std::chrono::minutes{1}},
                                         Duration{std::chrono::hours{1}},   Duration{std::chrono::days{1}},
                                         Duration{std::chrono::days{7}},    Duration{std::chrono::days{30}},
                                         Duration{std::chrono::days{365}}};

Limit widest_override(Duration window) {
  return Limit::fixed_window({Limit::max_window_limit, window}).value();
}

// Collects the tables that a policy needs: each identity once, with the rules of all tiers.
class WantedStates {
 public:
  void add(const StateId& id, const Limit& limit) {
    const auto [at, is_new] = index_.try_emplace(id, list_.size());
    if (is_new) list_.push_back({id, {}});
    list_[at->second].rules.push_back(core::compile(limit));
  }
  void add(const std::string& name, Purpose purpose, const Limit& limit) {
    add(store::state_id(name, purpose, limit), limit);
  }
  [[nodiscard]] const std::vector<store::RequiredState>& list() const noexcept { return list_; }

 private:
  std::vector<store::RequiredState> list_;
  std::map<StateId, std::size_t> index_;
};

store::OnFailure on_failure_of(policy::OnStoreFailure choice) noexcept {
  switch (choice) {
    case policy::OnStoreFailure::open:
      return store::OnFailure::open;
    case policy::OnStoreFailure::closed:
      return store::OnFailure::closed;
    case policy::OnStoreFailure::local:
      break;
  }
  return store::OnFailure::share;
}

// states_of(limit, tier) returns the states of a tier.
template <class StatesOf>
TierStates tier_states(const policy::TieredLimit& tiered, StatesOf states_of) {
  TierStates states;
  for (const auto& limit : tiered.by_tier) {
    states.push_back(limit ? std::optional<store::States>(states_of(*limit, states.size())) : std::nullopt);
  }
  return states;
}

// On a shared store, states are not converted when numbers change: each is clamped to the new numbers when it is next
// used. A consumer may use several tiers at once, so the clamp uses the tier that takes longest to fill.
void bound_reach(TierStates& tiers) {
  Duration longest = Duration::zero();
  for (const auto& tier : tiers) longest = std::max(longest, tier ? core::time_to_fill(tier->rule) : Duration::zero());
  for (auto& tier : tiers) {
    if (tier) core::bound_reach(tier->rule, longest);
  }
}

// Bounds the memory of each tier of a limit. Keys beyond the bound are decided exactly, so their requests wait for the
// store.
constexpr std::size_t max_approximate_keys = 262'144;

bool same_candidate(const policy::CompiledLimit& a, const policy::CompiledLimit& b) {
  return a.candidate && b.candidate && a.candidate->by_tier == b.candidate->by_tier;
}

// Calls work(numbers) for each distinct set of numbers that overrides apply to the states of a limit.
template <class Work>
void for_each_replacement(const match::Exceptions& exceptions, std::uint32_t limit, Work work) {
  const match::Exceptions::OfLimit* const tables = exceptions.of(limit);
  if (tables == nullptr) return;
  std::set<const match::Replacement*> seen;
  const auto visit = [&](const match::ReplacementTable::Entry& entry) {
    if (!seen.insert(entry.replacement.get()).second) return;
    for (const match::Replacement::Tier& tier : entry.replacement->tiers) {
      if (tier.numbers) work(*tier.numbers);
    }
  };
  tables->overrides.for_each(visit);
  tables->grants.for_each(visit);
}

void keep_estimates(BoundLimit& limit, const BoundLimit* before) {
  limit.consumers = before == nullptr ? std::make_shared<RecentDistinct>() : before->consumers;
  const bool same = before != nullptr && same_candidate(*limit.source, *before->source);
  limit.diverging = same ? before->diverging : std::make_shared<DivergingConsumers>();
}

}  // namespace

Result<std::shared_ptr<Bindings>> Bindings::create(std::shared_ptr<const policy::Ruleset> ruleset,
                                                   const Options& options, const Bindings* previous,
                                                   store::SavedStates* saved,
                                                   std::unique_ptr<match::Exceptions> exceptions) {
  auto matcher = match::Matcher::create(std::move(ruleset));
  if (!matcher) return tl::unexpected(matcher.error());
  auto bindings = std::make_shared<Bindings>();
  bindings->matcher_ = std::move(*matcher);
  bindings->exceptions_ = exceptions ? std::move(exceptions) : std::make_unique<match::Exceptions>();
  bindings->shared_keys_ = options.shared_keys;
  bindings->slice_holder_ = options.slice_holder;
  if (options.shared_keys) bindings->throttle_name_ = options.shared_keys->name({});
  if (auto opened = bindings->open_tables(options, previous, saved); !opened) return tl::unexpected(opened.error());
  bindings->bind_limits(options, previous);
  return bindings;
}

store::States Bindings::states(const StateId& id, const Limit& limit) const {
  const auto name = shared_names_.find(id);
  return {.rule = core::compile(limit),
          .table = tables_->find(id),
          .name = name == shared_names_.end() ? nullptr : &name->second};
}

Result<void> Bindings::open_tables(const Options& options, const Bindings* previous, store::SavedStates* saved) {
  WantedStates wanted_states;
  const std::uint64_t nodes = slice_holder_ ? slice_holder_->nodes.load(std::memory_order_relaxed) : 0;
  for (std::uint32_t number = 0; number < ruleset().limits.size(); ++number) {
    const policy::CompiledLimit& limit = ruleset().limits[number];
    for_each_replacement(*exceptions_, number,
                         [&](const Limit& numbers) { wanted_states.add(live_state_id(limit, numbers), numbers); });
    for (std::size_t tier = 0; tier < limit.live.by_tier.size(); ++tier) {
      const auto& numbers = limit.live.by_tier[tier];
      if (!numbers) continue;
      wanted_states.add(live_state_id(limit, *numbers), *numbers);
      // A share of 1 / nodes fits into cells sized for the whole limit, and so does the share after the number of nodes
      // changes.
      if (shared_keys_) wanted_states.add(live_state_id(limit, *numbers), outage_share(limit, *numbers, tier, nodes));
    }
    for (const auto& numbers : limit.candidate ? limit.candidate->by_tier : std::vector<std::optional<Limit>>{}) {
      if (numbers) wanted_states.add(limit.name, Purpose::candidate, *numbers);
    }
    if (limit.warn_first) wanted_states.add(limit.name, Purpose::warnings, warnings_limit(*limit.warn_first));
    if (limit.penalty) {
      wanted_states.add(limit.name, Purpose::denials, denials_limit(*limit.penalty));
      wanted_states.add(limit.name, Purpose::block, block_limit(*limit.penalty));
    }
  }
  for (const policy::Domain& domain : ruleset().domains) {
    for (const Duration window : override_windows) {
      wanted_states.add(domain.name, Purpose::overrides, widest_override(window));
    }
  }
  auto tables = store::Tables::create(wanted_states.list(), {options.memory_budget, options.hash_key},
                                      previous == nullptr ? nullptr : &previous->tables(), saved);
  if (!tables) return tl::unexpected(tables.error());
  tables_ = std::move(*tables);
  for (const store::RequiredState& wanted : wanted_states.list()) {
    if (shared_keys_) shared_names_.emplace(wanted.id, shared_keys_->name(wanted.id));
  }
  return {};
}

std::optional<std::uint32_t> Bindings::find_limit(std::uint64_t code) const noexcept {
  const auto found = limits_by_code_.find(code);
  return found == limits_by_code_.end() ? std::nullopt : std::optional(found->second);
}

void Bindings::bind_limits(const Options& options, const Bindings* previous) {
  const store::SharedTerms* const of_overrides =
      shared_keys_ ? &shared_terms_.emplace_back(store::SharedTerms{.charges_back = true}) : nullptr;
  for (const std::string& tier : ruleset().tiers.names) tier_codes_.push_back(ReceiptParts::name_code(tier));
  for (const policy::Domain& domain : ruleset().domains) {
    for (const Duration window : override_windows) {
      const Limit widest = widest_override(window);
      const StateId id = store::state_id(domain.name, Purpose::overrides, widest);
      overrides_.emplace(id, states(id, widest)).first->second.shared = of_overrides;
    }
  }
  for (const policy::CompiledLimit& limit : ruleset().limits) {
    BoundLimit bound = bind(limit);
    const auto known = previous == nullptr ? std::nullopt : previous->matcher().find_limit(limit.name);
    const BoundLimit* const before = known ? &previous->limits()[*known] : nullptr;
    keep_estimates(bound, before);
    if (options.shared_keys && options.known_keys) {
      bound.new_keys = before != nullptr && before->new_keys != nullptr
                           ? before->new_keys
                           : std::make_shared<store::NewKeyBound>(options.known_keys, limit.name, options.max_new_keys);
    }
    bound.code = ReceiptParts::name_code(limit.name);
    limits_by_code_.emplace(bound.code, static_cast<std::uint32_t>(limits_.size()));
    bound.first_row = rows_;
    bound.usage = bound.source->usage;
    rows_ += matcher_->routes_of(static_cast<std::uint32_t>(limits_.size())).size();
    limits_.push_back(std::move(bound));
  }
}

Bindings::~Bindings() {
  for (const auto& slices : slices_) slices->retire();
}

// `live` has the effective rules.
store::SharedTerms Bindings::shared_terms(const policy::CompiledLimit& limit, std::size_t tier,
                                          const store::States& live) {
  const Limit& numbers = *limit.live.by_tier[tier];
  store::SharedTerms terms{.charges_back = true};
  if (limit.local_share) {
    terms.share = core::compile(outage_share(limit, numbers, tier, 0));
  } else {
    terms.share = store::NodeShare{numbers, max_cost(limit.cost, tier)};
  }
  if (!slice_holder_) return terms;
  // Assumes one node. A limit that is too small to be approximate on more nodes is detected when nodes are counted.
  const auto effective = policy::effective_consistency(limit, numbers, 1);
  if (effective.kind == policy::Consistency::exact) return terms;
  store::SliceTable::Options options{
      .rule = live.rule, .capacity = numbers.capacity(), .lease = limit.consistency.lease, .holder = slice_holder_};
  if (effective.kind == policy::Consistency::approximate) {
    options.approximate = {numbers, policy::effective_sync(limit, numbers)};
    options.max_keys = max_approximate_keys;
  }
  slices_.push_back(std::make_shared<store::SliceTable>(std::move(options)));
  terms.slices = slices_.back().get();
  return terms;
}

BoundLimit Bindings::bind(const policy::CompiledLimit& limit) {
  BoundLimit bound;
  bound.source = &limit;
  bound.live = tier_states(limit.live, [&](const Limit& numbers, std::size_t /*tier*/) {
    store::States live = states(live_state_id(limit, numbers), numbers);
    live.on_failure = on_failure_of(limit.on_store_failure);
    return live;
  });
  if (limit.candidate) {
    bound.candidate = tier_states(*limit.candidate, [&](const Limit& numbers, std::size_t /*tier*/) {
      return states(store::state_id(limit.name, Purpose::candidate, numbers), numbers);
    });
  }
  if (shared_keys_) {
    bound_reach(bound.live);
    bound_reach(bound.candidate);
    for (std::size_t tier = 0; tier < bound.live.size(); ++tier) {
      auto& live = bound.live[tier];
      if (live) live->shared = &shared_terms_.emplace_back(shared_terms(limit, tier, *live));
    }
  }
  const auto of_purpose = [&](Purpose purpose, const Limit& numbers) {
    store::States counted = states(store::state_id(limit.name, purpose, numbers), numbers);
    counted.on_failure = on_failure_of(limit.on_store_failure);
    return counted;
  };
  if (limit.warn_first) bound.warnings = of_purpose(Purpose::warnings, warnings_limit(*limit.warn_first));
  if (limit.penalty) {
    bound.denials = of_purpose(Purpose::denials, denials_limit(*limit.penalty));
    bound.block = of_purpose(Purpose::block, block_limit(*limit.penalty));
  }
  return bound;
}

bool Bindings::holds(std::uint32_t limit, const match::Replacement& replacement) const noexcept {
  return std::ranges::all_of(replacement.tiers, [&](const match::Replacement::Tier& tier) {
    if (tier.kind != match::Replacement::Kind::numbers) return true;
    const store::States* const states = states_of(limits_[limit].live, tier.states_tier);
    return states != nullptr && states->table->holds(tier.rule);
  });
}

const store::States* Bindings::override_states(const policy::Domain& domain, Duration window) const noexcept {
  const auto found = overrides_.find({domain.name, Purpose::overrides, Algorithm::fixed_window, window});
  return found == overrides_.end() ? nullptr : &found->second;
}

}  // namespace weir::engine
