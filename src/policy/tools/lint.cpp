#include "policy/tools/lint.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "policy/rules.h"
#include "policy/tools/lint_rules.h"
#include "policy/tools/strictness.h"
#include "policy/words.h"

namespace weir::policy::lint_rules {
namespace {

constexpr std::array<Caller, 4> callers{{
    {.user = false, .api_key = false},
    {.user = false, .api_key = true},
    {.user = true, .api_key = false},
    {.user = true, .api_key = true},
}};

// True if `when` holds for every caller of this kind for whom `known` holds.
bool holds(const When& when, Caller caller, const When& known, const Identity& identity) {
  if (when.kind == When::Kind::authenticated) return is_authenticated(caller, identity);
  if (when.kind == When::Kind::anonymous) return !is_authenticated(caller, identity);
  if (includes(when, known)) return true;
  const auto part_holds = [&](const When& part) { return holds(part, caller, known, identity); };
  if (when.kind == When::Kind::all) return std::ranges::all_of(when.conditions, part_holds);
  return when.kind == When::Kind::any && std::ranges::any_of(when.conditions, part_holds);
}

// False if `when` holds for no caller of this kind.
bool may_hold(const When& when, Caller caller, const Identity& identity) {
  const bool is_known = is_authenticated(caller, identity);
  return !requires_kind(when, is_known ? When::Kind::anonymous : When::Kind::authenticated);
}

// True if the limit can deny a request of the default tier.
bool is_enforced(const CompiledLimit& limit) {
  return !limit.by_descriptor() && limit.mode == Mode::enforce && !limit.live.by_tier.empty() &&
         (limit.live.bans(0) || limit.live.by_tier.front().has_value());
}

bool takes_in(const CompiledLimit& other, Caller caller, const Subject& subject) {
  if (!holds(other.when, caller, subject.limit.when, subject.ruleset.identity)) return false;
  return other.missing != Missing::skip || key_of(caller, other.consumer_key) != nullptr;
}

// True if the limit skips some caller on this route that no other limit covers.
bool is_open(const Subject& subject, const RouteTemplate& route) {
  return std::ranges::any_of(callers, [&](Caller caller) {
    const CompiledLimit& limit = subject.limit;
    if (!may_hold(limit.when, caller, subject.ruleset.identity)) return false;
    if (key_of(caller, limit.consumer_key) != nullptr) return false;
    const auto* other = subject.index.find_covering(route, [&](const RouteIndex::Entry& entry) {
      return entry.limit != nullptr && is_enforced(*entry.limit) && takes_in(*entry.limit, caller, subject);
    });
    return other == nullptr;
  });
}

// The key parts that a request may lack: "user or api_key".
std::string missing_parts(const ConsumerKey& key) {
  std::string text;
  std::vector<KeyPart> named;
  for (const std::vector<KeyPart>& parts : key.alternatives) {
    for (const KeyPart& part : parts) {
      if (is_always_there(part) || std::ranges::find(named, part) != named.end()) continue;
      if (!named.empty()) text += " or ";
      text += text_of(part);
      named.push_back(part);
    }
  }
  return text;
}

bool same_cost(const CostRule& a, const CostRule& b) {
  const auto same_entry = [](const RouteCost& x, const RouteCost& y) {
    return x.cost == y.cost && same_route(x.route, y.route);
  };
  return a.fixed == b.fixed && a.header.has_value() == b.header.has_value() &&
         std::ranges::equal(a.by_route, b.by_route, same_entry) &&
         (!a.header || (a.header->header == b.header->header && a.header->max_by_tier == b.header->max_by_tier));
}

bool charges_no_less(const CostRule& a, const CostRule& b) {
  if (a.is_written != b.is_written) return false;  // the caller chooses the cost where the policy sets none
  if (same_cost(a, b)) return true;
  if (a.header || b.header) return false;
  Cost min_cost = a.fixed;
  Cost max_cost = b.fixed;
  for (const RouteCost& each : a.by_route) min_cost = std::min(min_cost, each.cost);
  for (const RouteCost& each : b.by_route) max_cost = std::max(max_cost, each.cost);
  return min_cost >= max_cost;
}

// True if share `a` never lets a node admit more than share `b`. The default, 1 / nodes, is at most a half.
bool is_no_larger_share(std::optional<std::uint32_t> a, std::optional<std::uint32_t> b) {
  if (!b) return !a;
  return a.value_or(500'000) <= *b;
}

// True if `a` is at least as strict as `b` while the store is unavailable and between nodes.
bool holds_no_less(const CompiledLimit& a, const CompiledLimit& b) {
  const bool in_an_outage =
      a.on_store_failure == OnStoreFailure::closed || b.on_store_failure == OnStoreFailure::open ||
      (a.on_store_failure == b.on_store_failure && is_no_larger_share(a.local_share, b.local_share));
  const bool between_nodes =
      a.consistency.kind != Consistency::approximate || b.consistency.kind == Consistency::approximate;
  return in_an_outage && between_nodes;
}

bool same_routes(const CompiledLimit& a, const CompiledLimit& b) {
  return std::ranges::equal(a.routes, b.routes, same_route);
}

std::vector<Terms> terms_of(const TieredLimit& limits) {
  std::vector<Terms> all;
  for (std::size_t tier = 0; tier < limits.by_tier.size(); ++tier) all.push_back(policy::terms_of(limits, tier));
  return all;
}

bool is_stricter_for_all(const CompiledLimit& a, const CompiledLimit& b) {
  const std::vector<Terms> ours = terms_of(a.live);
  const std::vector<Terms> theirs = terms_of(b.live);
  if (ours.size() != theirs.size()) return false;
  // Tiers that share a counter each apply their own numbers to it, so the comparison needs equal numbers for all.
  const bool is_shared = a.consumer_key != b.consumer_key;
  const bool is_uniform = std::ranges::all_of(ours, [&](const auto& each) { return each == ours.front(); });
  if (is_shared && !is_uniform) return false;
  const auto as_strict = [](const auto& x, const auto& y) { return at_least_as_strict(x, y); };
  return std::ranges::equal(ours, theirs, as_strict);
}

// True if `a` denies whatever `b` would deny. A limit `b` that delays requests never qualifies.
bool always_first(const CompiledLimit& a, const CompiledLimit& b) {
  if (!is_enforced(a) || a.warn_first || b.by_descriptor()) return false;
  if (!includes(a.when, b.when)) return false;
  if (!at_least_as_coarse({a.consumer_key, a.missing}, {b.consumer_key, b.missing})) return false;
  // Each limit labels requests by its own templates.
  if (has_part(a.consumer_key, KeyPart::Kind::route) && !same_routes(a, b)) return false;
  const auto delays = [](const std::optional<Limit>& l) {
    return l && l->algorithm() == Algorithm::leaky_bucket_queue;
  };
  if (std::ranges::any_of(b.live.by_tier, delays)) return false;
  const auto is_excluded_in_b = [&](const RouteTemplate& route) {
    return std::ranges::any_of(b.except, [&](const RouteTemplate& other) { return covers(other, route); });
  };
  if (!std::ranges::all_of(a.except, is_excluded_in_b)) return false;
  return charges_no_less(a.cost, b.cost) && holds_no_less(a, b) && is_stricter_for_all(a, b) &&
         covers_routes(a.routes, b.routes);
}

// True if no caller who meets the condition can have the key, whatever headers it sends.
bool never_matches(const Subject& subject) {
  const CompiledLimit& limit = subject.limit;
  const auto& alternatives = limit.consumer_key.alternatives;
  if (limit.missing != Missing::skip) return false;
  return std::ranges::none_of(callers, [&](Caller caller) {
    if (!may_hold(limit.when, caller, subject.ruleset.identity)) return false;
    return std::ranges::any_of(alternatives, [&](const std::vector<KeyPart>& parts) {
      return std::ranges::all_of(parts, [&](const KeyPart& part) {
        return part.kind == KeyPart::Kind::header || part.kind == KeyPart::Kind::identity ||
               key_of(caller, ConsumerKey{{{part}}}) != nullptr;
      });
    });
  });
}

}  // namespace

void uncovered(const Subject& subject, Problems& problems) {
  const CompiledLimit& limit = subject.limit;
  if (limit.missing != Missing::skip || !is_enforced(limit) || is_never_missing(limit.consumer_key)) return;
  if (never_matches(subject)) return;  // unreachable() warns
  std::vector<RouteTemplate> open;
  for (const RouteTemplate& route : limit.routes) {
    if (is_open(subject, route)) open.push_back(route);
  }
  if (open.empty() && (!limit.routes.empty() || !is_open(subject, RouteIndex::every_request()))) return;
  const auto& missing = subject.written.missing;
  problems.warning(missing ? missing->at : position_of_key(subject.written), rule::uncovered_request,
                   "'{}' does not cover requests without {}, and no other limit covers them on {}: set 'missing: "
                   "share' or 'missing: deny', or add a limit by ip",
                   limit.name, missing_parts(limit.consumer_key), routes_text(open));
}

void unreachable(const Subject& subject, Problems& problems) {
  const CompiledLimit& limit = subject.limit;
  if (never_matches(subject)) {
    problems.warning(position_of_key(subject.written), rule::unreachable_limit,
                     "'{}' never matches: with 'when: {}' a request has no {}; change 'when' or consumer_key",
                     limit.name, text_of(limit.when), missing_parts(limit.consumer_key));
    return;
  }
  const auto* first =
      subject.index.find_covering(RouteIndex::routes_of(limit).front(), [&](const RouteIndex::Entry& entry) {
        const CompiledLimit* other = entry.limit;
        if (other == nullptr || other == &limit || !always_first(*other, limit)) return false;
        return other < &limit || !always_first(limit, *other);  // of two equal limits, only the second is reported
      });
  if (first == nullptr) return;
  problems.warning(subject.written.name.at, rule::unreachable_limit,
                   "'{}' never decides: '{}' ({}) always denies first; remove '{}', or make it stricter", limit.name,
                   first->limit->name, limit_text(*first->limit), limit.name);
}

void single_segment(const Subject& subject, Problems& problems) {
  for (const auto& [route, at] : subject.written.routes) {
    const bool ends_in_star = !route.trailing_wildcard && !route.segments.empty() &&
                              !route.segments.back().is_literal() && route.segments.back().text.empty();
    if (!ends_in_star) continue;
    RouteTemplate deeper = route;
    deeper.segments.push_back(route.segments.back());
    deeper.trailing_wildcard = true;
    // A catch-all limit does not show that the author considered deeper paths.
    const auto* found = subject.index.find_overlapping(
        deeper, [](const RouteIndex::Entry& entry) { return entry.limit != nullptr && !entry.route.segments.empty(); });
    if (found != nullptr) continue;
    RouteTemplate all = route;
    all.segments.pop_back();
    all.trailing_wildcard = true;
    problems.warning(at, rule::single_segment,
                     "'{}' covers one segment with {}, and deeper paths bypass it: write {} to cover them, or {{id}} "
                     "instead of * if one segment is meant",
                     subject.limit.name, route.text(), all.text());
  }
}

RouteIndex::RouteIndex(const Ruleset& ruleset) {
  for (const CompiledLimit& limit : ruleset.limits) {
    if (limit.by_descriptor()) continue;
    for (const RouteTemplate& route : routes_of(limit)) add(route, &limit);
    for (const RouteCost& cost : limit.cost.by_route) add(cost.route, nullptr);
  }
  for (const RouteTemplate& route : ruleset.labels) add(route, nullptr);
}

RouteTemplate RouteIndex::every_request() {
  return {.method = {}, .segments = {}, .trailing_wildcard = true};
}

std::vector<RouteTemplate> RouteIndex::routes_of(const CompiledLimit& limit) {
  return limit.routes.empty() ? std::vector{every_request()} : limit.routes;
}

bool is_covered(const Subject& subject, const RouteIndex::Predicate& predicate) {
  return std::ranges::all_of(RouteIndex::routes_of(subject.limit), [&](const RouteTemplate& route) {
    return subject.index.find_covering(route, predicate) != nullptr;
  });
}

std::size_t RouteIndex::child(std::size_t node, const Segment& segment) {
  std::size_t& found = segment.is_literal() ? nodes_[node].literals[segment.key] : nodes_[node].parameter;
  if (found != 0) return found;
  const std::size_t made = nodes_.size();
  found = made;  // must be set before nodes_ reallocates
  nodes_.emplace_back();
  return made;
}

void RouteIndex::add(const RouteTemplate& route, const CompiledLimit* limit) {
  std::size_t node = 0;
  for (const Segment& segment : route.segments) node = child(node, segment);
  nodes_[node].entries.push_back({route, limit});
}

// The child nodes to visit for one segment of the route; null stands for its `**`.
std::vector<std::size_t> RouteIndex::next(const Node& node, const Segment* segment, bool covering) const {
  std::vector<std::size_t> all;
  if (node.parameter != 0) all.push_back(node.parameter);
  if (segment != nullptr && segment->is_literal()) {
    if (const auto found = node.literals.find(segment->key); found != node.literals.end()) all.push_back(found->second);
  } else if (!covering) {
    for (const auto& [text, literal] : node.literals) all.push_back(literal);
  }
  return all;
}

const RouteIndex::Entry* RouteIndex::find(const RouteTemplate& route, bool covering, const Predicate& predicate) const {
  std::vector<std::pair<std::size_t, std::size_t>> ahead{{0, 0}};  // node, depth
  while (!ahead.empty()) {
    const auto [at, depth] = ahead.back();
    ahead.pop_back();
    for (const Entry& entry : nodes_[at].entries) {
      // A limit that excludes a part of the route does not cover it.
      const auto excludes = [&] {
        return entry.limit != nullptr && std::ranges::any_of(entry.limit->except, [&](const RouteTemplate& except) {
                 return overlap(except, route);
               });
      };
      const bool matches = covering ? covers(entry.route, route) && !excludes() : overlap(entry.route, route);
      if (matches && predicate(entry)) return &entry;
    }
    const bool inside = depth < route.segments.size();
    if (!inside && (covering || !route.trailing_wildcard)) continue;
    const Segment* segment = inside ? &route.segments[depth] : nullptr;
    for (const std::size_t node : next(nodes_[at], segment, covering)) ahead.emplace_back(node, depth + 1);
  }
  return nullptr;
}

const RouteIndex::Entry* RouteIndex::find_covering(const RouteTemplate& route, const Predicate& predicate) const {
  return find(route, true, predicate);
}

const RouteIndex::Entry* RouteIndex::find_overlapping(const RouteTemplate& route, const Predicate& predicate) const {
  return find(route, false, predicate);
}

}  // namespace weir::policy::lint_rules

namespace weir::policy {
namespace {

using lint_rules::Subject;

// A ban counts nothing, so its key does not matter.
bool counts(const CompiledLimit& limit) {
  return std::ranges::any_of(limit.live.by_tier, [](const auto& numbers) { return numbers.has_value(); });
}

void lint_counting(const Subject& subject, Problems& problems) {
  lint_rules::ip_alone(subject, problems);
  lint_rules::chosen_key(subject, problems);
  lint_rules::penalty_on_chosen_key(subject, problems);
  lint_rules::raw_path(subject, problems);
  lint_rules::fixed_window_on_writes(subject, problems);
  lint_rules::odd_burst(subject, problems);
  lint_rules::consistency(subject, problems);
  lint_rules::usage(subject, problems);
  lint_rules::receipt_size(subject, problems);
  lint_rules::without_effect_in_shadow(subject, problems);
}

void lint_limit(const Subject& subject, Problems& problems) {
  if (counts(subject.limit)) lint_counting(subject, problems);
  lint_rules::single_segment(subject, problems);
  lint_rules::unread_tiers(subject, problems);
  lint_rules::uncovered(subject, problems);
  lint_rules::unreachable(subject, problems);
}

}  // namespace

void lint(const PolicySpec& spec, const Ruleset& ruleset, std::uint64_t nodes, Problems& problems) {
  // Both lists are in file order. Limits of descriptors lie in between and are skipped.
  const lint_rules::RouteIndex index(ruleset);
  auto compiled = ruleset.limits.begin();
  for (const LimitSpec& written : spec.limits) {
    compiled =
        std::find_if(compiled, ruleset.limits.end(), [](const CompiledLimit& limit) { return !limit.by_descriptor(); });
    if (compiled == ruleset.limits.end()) break;
    lint_limit(
        {.policy = spec, .ruleset = ruleset, .index = index, .written = written, .limit = *compiled++, .nodes = nodes},
        problems);
  }
  for (const DomainSpec& domain : spec.domains) {
    for (const DescriptorSpec& descriptor : domain.descriptors) {
      lint_rules::raw_path(descriptor, problems);
      lint_rules::unlabelled(descriptor, problems);
    }
  }
}

}  // namespace weir::policy
