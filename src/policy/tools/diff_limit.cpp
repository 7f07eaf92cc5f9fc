#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "core/calendar.h"
#include "policy/tools/diff_parts.h"
#include "policy/words.h"

namespace weir::policy::diff_parts {
namespace {

std::vector<std::string> all_tiers(const Ruleset& before, const Ruleset& after) {
  std::vector<std::string> tiers = before.tiers.names;
  for (const std::string& name : after.tiers.names) {
    if (!before.tiers.find(name)) tiers.push_back(name);
  }
  return tiers;
}

// Of Tiers::names; a tier that is not known is the default tier.
std::size_t index_of(const std::string& tier, const Tiers& tiers) noexcept {
  return tiers.find(tier).value_or(0);
}

// The numbers of a tier, with the words for them.
struct Told {
  const TieredLimit* limits = nullptr;
  std::size_t tier = 0;
  Terms terms;

  [[nodiscard]] std::string text() const { return numbers_text(*limits, tier); }
};

// Tiers for which the same numbers become the same others.
struct Group {
  std::vector<std::string> tiers;
  Told before;
  Told after;

  [[nodiscard]] bool differs() const { return before.terms != after.terms; }
  [[nodiscard]] bool both_have_numbers() const { return before.terms.numbers && after.terms.numbers; }
};

// Both sides with the algorithm when it is another; what it is for the unlimited and the banned, nobody has to know.
Texts texts_of(const Group& group, PolicyAlgorithm old_algorithm, PolicyAlgorithm new_algorithm) {
  const auto& [tiers, before, after] = group;
  if (!group.both_have_numbers()) return {before.text(), after.text()};
  if (before.terms.numbers->algorithm() == after.terms.numbers->algorithm()) {
    return numbers_texts(spelled(*before.limits, before.tier), spelled(*after.limits, after.tier));
  }
  return {fmt::format("{} {}", name_of(old_algorithm), before.text()),
          fmt::format("{} {}", name_of(new_algorithm), after.text())};
}

bool starts_afresh(const Group& group) {
  if (!group.both_have_numbers()) return false;
  const Limit& was = *group.before.terms.numbers;
  const Limit& is = *group.after.terms.numbers;
  if (was.algorithm() != is.algorithm()) return true;
  if (was.calendar() != nullptr && is.calendar() != nullptr) return was.calendar()->unit() != is.calendar()->unit();
  const bool has_other_windows = was.rate().per != is.rate().per || was.calendar() != is.calendar();
  const bool is_window = was.algorithm() >= Algorithm::fixed_window && was.algorithm() != Algorithm::concurrency;
  return is_window && has_other_windows;
}

PolicyAlgorithm candidate_algorithm(const CompiledLimit& limit) {
  return limit.candidate_algorithm.value_or(limit.algorithm);
}

std::string candidate_text(const CompiledLimit& limit) {
  return fmt::format("{} {}", name_of(candidate_algorithm(limit)), numbers_text(*limit.candidate, 0));
}

bool has_route(const std::vector<RouteTemplate>& routes, const RouteTemplate& route) {
  return std::ranges::any_of(routes, [&](const RouteTemplate& other) { return same_route(route, other); });
}

// Routes of `some` that are not among `others`, apart by whether `others` cover them all the same.
struct Apart {
  std::vector<RouteTemplate> covered;
  std::vector<RouteTemplate> uncovered;
};

Apart only_in(const std::vector<RouteTemplate>& some, const std::vector<RouteTemplate>& others) {
  Apart apart;
  for (const RouteTemplate& route : some) {
    if (!has_route(others, route)) {
      (covers_route(others, route) ? apart.covered : apart.uncovered).push_back(route);
    }
  }
  return apart;
}

// What a route costs: by the entry for it, or by the narrowest that covers it.
Cost cost_at(const CostRule& rule, const RouteTemplate& route) {
  const RouteCost* narrowest = nullptr;
  for (const RouteCost& entry : rule.by_route) {
    if (!covers(entry.route, route)) continue;
    if (narrowest == nullptr || covers(narrowest->route, entry.route)) narrowest = &entry;
  }
  return narrowest == nullptr ? rule.fixed : narrowest->cost;
}

std::optional<Cost> most_for(const std::string& tier, const Side& side) {
  const std::vector<Cost>& most = side.limit.cost.header->most_by_tier;
  const std::size_t index = index_of(tier, side.ruleset.tiers);
  return index < most.size() ? std::optional(most[index]) : std::nullopt;
}

// A max_cost that is the burst, as it is unless written otherwise, changes with the burst: that is told there.
bool follows_burst(const std::string& tier, const Side& side) {
  const auto most = most_for(tier, side);
  const auto terms = terms_of(side.limit.live, index_of(tier, side.ruleset.tiers));
  return !most || !terms.numbers || most->units() == terms.numbers->capacity();
}

std::string fixed_text(const CostRule& cost) {
  return cost.is_written ? fmt::format("{}", cost.fixed.units()) : "as the caller says";
}

std::string text_of(const std::optional<HeaderCost>& cost) {
  return cost ? "header:" + cost->header : "no header";
}

std::string text_of(const std::optional<Penalty>& penalty) {
  if (!penalty) return "none";
  return fmt::format("after {} in {} for {}", penalty->after, duration_text(penalty->within),
                     duration_text(penalty->block));
}

std::string text_of(const std::optional<WarnFirst>& warn) {
  return warn ? fmt::format("{} per {}", warn->count, duration_text(warn->per)) : "none";
}

bool is_as_strict(const std::optional<Penalty>& a, const std::optional<Penalty>& b) {
  return !b || (a && a->after <= b->after && a->within >= b->within && a->block >= b->block);
}

bool is_as_strict(const std::optional<WarnFirst>& a, const std::optional<WarnFirst>& b) {
  return !a || (b && a->count <= b->count && a->per >= b->per);
}

// How strict a choice is, and what it means.
using Choice = std::pair<int, std::string_view>;

Choice meaning(OnStoreFailure choice) noexcept {
  static constexpr std::array<Choice, 3> choices{{{1, "each process enforces its share while the store is away"},
                                                  {0, "everybody is admitted while the store is away"},
                                                  {2, "everybody is denied while the store is away"}}};
  return choices[static_cast<std::size_t>(choice)];
}

std::string text_of(const ConsistencyChoice& choice) {
  if (choice.kind == Consistency::leased) return "leased for " + duration_text(choice.lease);
  if (choice.kind == Consistency::approximate) return "approximate every " + duration_text(choice.sync);
  return "exact";
}

std::string text_of(std::optional<Usage> usage) {
  return usage ? std::string(name_of(*usage)) : "of any kind";
}

std::string_view meaning(Consistency consistency) noexcept {
  static constexpr std::array<std::string_view, 3> meanings{
      "never one too many", "never one too many, and a few less while other nodes hold slices",
      "up to a quarter too many may pass, and a few less while other nodes hold slices"};
  return meanings[static_cast<std::size_t>(consistency)];
}

// Units that one node holds are denied to others: leased is exact or a little under, and the more so the longer the
// lease. Approximate may be over as well as under.
Direction consistency_direction(const ConsistencyChoice& was, const ConsistencyChoice& is) noexcept {
  if (was.kind == Consistency::approximate || is.kind == Consistency::approximate) return Direction::different;
  const auto held_for = [](const ConsistencyChoice& choice) {
    return choice.kind == Consistency::leased ? choice.lease : Duration::zero();
  };
  return direction_of_more(held_for(was), held_for(is));
}

// Millionths, as the policy writes them: 0.5.
std::string share_text(std::optional<std::uint32_t> share) {
  if (!share) return "1/nodes";
  std::string text = fmt::format("{}.{:06}", *share / 1'000'000, *share % 1'000'000);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text;
}

// 1 / nodes is at most a half: how it compares with less than that depends on the number of nodes.
Direction direction_of_share(std::optional<std::uint32_t> was, std::optional<std::uint32_t> is) {
  constexpr std::uint32_t half = 500'000;
  if (was && is) return direction_of_more(*is, *was);
  if (was.value_or(is.value_or(0)) < half) return Direction::different;
  return was ? Direction::tighter : Direction::looser;
}

class LimitComparison {
 public:
  LimitComparison(const Side& before, const Side& after, Changes& changes)
      : before_(before),
        after_(after),
        was_(before.limit),
        is_(after.limit),
        tiers_(all_tiers(before.ruleset, after.ruleset)),
        changes_(changes) {}

  void compare_numbers() {
    const auto all = groups(was_.live, is_.live);
    for (const Group& group : all) {
      if (!group.differs()) continue;
      const std::string_view afresh = starts_afresh(group) ? ", states start afresh" : "";
      tell(group_text(group, all.size(), was_.algorithm, is_.algorithm) + std::string(afresh),
           direction_between(group.before.terms, group.after.terms));
    }
  }

  // Which requests, counted as whose.
  void compare_scope() {
    compare_routes();
    if (was_.when != is_.when) {
      tell(fmt::format("when {} -> {}", text_of(was_.when), text_of(is_.when)),
           direction_of(includes(is_.when, was_.when), includes(was_.when, is_.when)));
    }
    if (was_.consumer_key != is_.consumer_key) {
      const Consumers was{was_.consumer_key, was_.missing};
      const Consumers is{is_.consumer_key, is_.missing};
      tell(
          fmt::format("counts by {} -> {}, states start afresh", text_of(was_.consumer_key), text_of(is_.consumer_key)),
          direction_of(at_least_as_coarse(is, was), at_least_as_coarse(was, is)));
    }
    if (was_.missing == is_.missing) return;
    // Where no request lacks the key it says nothing; and it follows the kind of the key where it is not written.
    const bool matters = !is_never_missing(was_.consumer_key) && !is_never_missing(is_.consumer_key);
    if (was_.consumer_key != is_.consumer_key && !matters) return;
    tell(fmt::format("missing {} -> {}", name_of(was_.missing), name_of(is_.missing)),
         matters ? direction_of_more(was_.missing, is_.missing) : Direction::neutral);
  }

  void compare_cost() {
    const bool is_from_header = was_.cost.header || is_.cost.header;
    if (was_.cost.is_written == is_.cost.is_written || was_.algorithm != is_.algorithm) {
      tell_cost("cost", was_.cost.fixed, is_.cost.fixed);
    } else if (!is_from_header) {
      tell(fmt::format("cost {} -> {}", fixed_text(was_.cost), fixed_text(is_.cost)), Direction::different);
    }
    std::vector<RouteTemplate> known;
    for (const CostRule* rule : {&was_.cost, &is_.cost}) {
      for (const RouteCost& entry : rule->by_route) {
        if (has_route(known, entry.route)) continue;
        known.push_back(entry.route);
        tell_cost("cost of " + entry.route.text(), cost_at(was_.cost, entry.route), cost_at(is_.cost, entry.route));
      }
    }
    const auto& was = was_.cost.header;
    const auto& is = is_.cost.header;
    if (was && is && was->header == is->header) {
      compare_most();
    } else if (was || is) {
      tell(fmt::format("cost from {} -> {}", text_of(was), text_of(is)), Direction::different);
    }
  }

  // What a denial does, and what happens when the store is away.
  void compare_response() {
    compare_strictness("warn_first", was_.warn_first, is_.warn_first);
    compare_strictness("penalty", was_.penalty, is_.penalty);
    if (was_.on_store_failure != is_.on_store_failure) {
      const Choice was = meaning(was_.on_store_failure);
      const Choice is = meaning(is_.on_store_failure);
      tell(fmt::format("on_store_failure {} -> {}, {}", name_of(was_.on_store_failure), name_of(is_.on_store_failure),
                       is.second),
           direction_of_more(was.first, is.first));
    }
    if (was_.local_share != is_.local_share) {
      const bool matters =
          was_.on_store_failure == OnStoreFailure::local && is_.on_store_failure == OnStoreFailure::local;
      tell(fmt::format("local_share {} -> {}", share_text(was_.local_share), share_text(is_.local_share)),
           matters ? direction_of_share(was_.local_share, is_.local_share) : Direction::neutral);
    }
    compare_consistency();
    if (was_.usage != is_.usage) {
      tell(fmt::format("usage {} -> {}", text_of(was_.usage), text_of(is_.usage)), Direction::neutral);
    }
  }

  void compare_candidates() {
    const auto tell_candidate = [&](const std::string& what) { tell("candidate " + what, Direction::neutral); };
    if (was_.candidate && !is_.candidate) tell_candidate(candidate_text(was_) + " removed");
    if (!was_.candidate && is_.candidate) tell_candidate(candidate_text(is_) + " added");
    if (!was_.candidate || !is_.candidate) return;
    const auto all = groups(*was_.candidate, *is_.candidate);
    for (const Group& group : all) {
      if (!group.differs()) continue;
      tell_candidate(group_text(group, all.size(), candidate_algorithm(was_), candidate_algorithm(is_)));
    }
  }

 private:
  void tell(std::string sentence, Direction direction) {
    changes_.push_back({is_.name, std::move(sentence), direction});
  }

  void tell_cost(const std::string& what, Cost was, Cost is) {
    if (was != is) tell(fmt::format("{} {} -> {}", what, was.units(), is.units()), direction_of_more(was, is));
  }

  template <class Field>
  void compare_strictness(std::string_view field, const Field& was, const Field& is) {
    if (was == is) return;
    tell(fmt::format("{} {} -> {}", field, text_of(was), text_of(is)),
         direction_of(is_as_strict(is, was), is_as_strict(was, is)));
  }

  void compare_consistency() {
    const ConsistencyChoice& was = was_.consistency;
    const ConsistencyChoice& is = is_.consistency;
    if (was == is) return;
    std::string_view what = meaning(is.kind);
    if (was.kind == is.kind && is.kind == Consistency::leased) {
      what = is.lease > was.lease ? "nodes hold what they do not use for longer" : "nodes give back sooner";
    } else if (was.kind == is.kind) {
      what = is.sync > was.sync ? "nodes hear of each other later" : "nodes hear of each other sooner";
    }
    tell(fmt::format("consistency {} -> {}, {}", text_of(was), text_of(is), what), consistency_direction(was, is));
  }

  [[nodiscard]] std::vector<Group> groups(const TieredLimit& was, const TieredLimit& is) const {
    const auto told = [](const std::string& tier, const Tiers& tiers, const TieredLimit& limits) {
      const std::size_t index = index_of(tier, tiers);
      return Told{&limits, index, terms_of(limits, index)};
    };
    std::vector<Group> groups;
    for (const std::string& tier : tiers_) {
      const Told before = told(tier, before_.ruleset.tiers, was);
      const Told after = told(tier, after_.ruleset.tiers, is);
      const auto same = std::ranges::find_if(groups, [&](const Group& group) {
        return group.before.terms == before.terms && group.after.terms == after.terms;
      });
      if (same != groups.end()) {
        same->tiers.push_back(tier);
      } else {
        groups.push_back({{tier}, before, after});
      }
    }
    return groups;
  }

  static std::string group_text(const Group& group, std::size_t count, PolicyAlgorithm was, PolicyAlgorithm is) {
    const Texts texts = texts_of(group, was, is);
    const std::string who = count == 1 ? "" : list_text(group.tiers) + " ";
    return fmt::format("{}{} -> {}", who, texts.before, texts.after);
  }

  void compare_routes() {
    const auto& was = was_.routes;
    const auto& is = is_.routes;
    // Where routes are part of the key, one more or less among those that are covered splits or joins counters.
    const bool is_key =
        has_part(was_.consumer_key, KeyPart::Kind::route) || has_part(is_.consumer_key, KeyPart::Kind::route);
    const auto unless_key = [&](Direction direction) { return is_key ? Direction::different : direction; };
    if (was.empty() != is.empty()) {
      tell(fmt::format("{} -> {}", routes_text(was), routes_text(is)),
           unless_key(direction_of(covers_routes(is, was), covers_routes(was, is))));
      return;
    }
    const Apart removed = only_in(was, is);
    const Apart added = only_in(is, was);
    const auto tell_routes = [&](const std::vector<RouteTemplate>& routes, std::string_view what, Direction direction) {
      if (!routes.empty()) tell(fmt::format("{} {}", routes_text(routes), what), direction);
    };
    tell_routes(removed.uncovered, "no longer covered", Direction::looser);
    tell_routes(added.uncovered, "covered now", Direction::tighter);
    tell_routes(removed.covered, "not listed any more, still covered", unless_key(Direction::neutral));
    tell_routes(added.covered, "listed now, covered before", unless_key(Direction::neutral));
  }

  void compare_most() {
    std::vector<std::pair<Cost, Cost>> told;
    for (const std::string& tier : tiers_) {
      if (follows_burst(tier, before_) && follows_burst(tier, after_)) continue;
      const auto was = most_for(tier, before_);
      const auto is = most_for(tier, after_);
      if (!was || !is || std::ranges::find(told, std::pair(*was, *is)) != told.end()) continue;
      told.emplace_back(*was, *is);
      tell_cost("max_cost", *was, *is);
    }
  }

  const Side& before_;
  const Side& after_;
  const CompiledLimit& was_;
  const CompiledLimit& is_;
  std::vector<std::string> tiers_;
  Changes& changes_;
};

}  // namespace

void compare_limit(const Side& before, const Side& after, Changes& changes) {
  LimitComparison comparison(before, after, changes);
  comparison.compare_numbers();
  comparison.compare_scope();
  comparison.compare_cost();
  comparison.compare_response();
  comparison.compare_candidates();
}

}  // namespace weir::policy::diff_parts
