#include <algorithm>
#include <array>
#include <string>

#include <fmt/core.h>

#include "policy/coverage.h"
#include "policy/lint/rules.h"
#include "policy/strictness.h"
#include "policy/words.h"

namespace weir::policy::lint_rules {
namespace {

constexpr std::array<Caller, 4> callers{{
    {.user = false, .api_key = false},
    {.user = false, .api_key = true},
    {.user = true, .api_key = false},
    {.user = true, .api_key = true},
}};

// Whether `when` holds for a caller for whom `known` does.
bool holds(const When& when, Caller caller, const When& known, const Identity& identity) {
  switch (when.kind) {
    case When::Kind::always:
      return true;
    case When::Kind::authenticated:
      return is_authenticated(caller, identity);
    case When::Kind::anonymous:
      return !is_authenticated(caller, identity);
    case When::Kind::ip_in:
    case When::Kind::ip_not_in:
      break;
  }
  return includes(when, known);
}

// Whether it denies somebody at all, outside of tiers that are let off.
bool is_enforced(const CompiledLimit& limit) {
  return !limit.by_descriptor() && limit.mode == Mode::enforce && !limit.live.by_tier.empty() &&
         (limit.live.bans(0) || limit.live.by_tier.front().has_value());
}

bool takes_in(const CompiledLimit& other, Caller caller, const Subject& subject) {
  if (!holds(other.when, caller, subject.limit.when, subject.ruleset.identity)) return false;
  return other.missing != Missing::skip || key_of(caller, other.consumer_key) != nullptr;
}

// Whether some caller whom the limit skips is covered by nothing else on this route.
bool is_open(const Subject& subject, const RouteTemplate& route) {
  return std::any_of(callers.begin(), callers.end(), [&](Caller caller) {
    const CompiledLimit& limit = subject.limit;
    if (!holds(limit.when, caller, limit.when, subject.ruleset.identity)) return false;
    if (key_of(caller, limit.consumer_key) != nullptr) return false;
    const auto* other = subject.index.find_covering(route, [&](const RouteIndex::Entry& entry) {
      return entry.limit != nullptr && is_enforced(*entry.limit) && takes_in(*entry.limit, caller, subject);
    });
    return other == nullptr;
  });
}

// The parts by which a caller can be without a key: "user or api_key".
std::string missing_parts(const ConsumerKey& key) {
  std::string text;
  std::vector<KeyPart> named;
  for (const std::vector<KeyPart>& parts : key.alternatives) {
    for (const KeyPart& part : parts) {
      if (is_always_there(part) || std::find(named.begin(), named.end(), part) != named.end()) continue;
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
         std::equal(a.by_route.begin(), a.by_route.end(), b.by_route.begin(), b.by_route.end(), same_entry) &&
         (!a.header || (a.header->header == b.header->header && a.header->most_by_tier == b.header->most_by_tier));
}

bool charges_no_less(const CostRule& a, const CostRule& b) {
  if (same_cost(a, b)) return true;
  if (a.header || b.header) return false;
  Cost least = a.fixed;
  Cost most = b.fixed;
  for (const RouteCost& each : a.by_route) least = std::min(least, each.cost);
  for (const RouteCost& each : b.by_route) most = std::max(most, each.cost);
  return least >= most;
}

// In an outage, and between nodes.
bool holds_no_less(const CompiledLimit& a, const CompiledLimit& b) {
  const bool in_an_outage = a.on_store_failure == OnStoreFailure::closed ||
                            b.on_store_failure == OnStoreFailure::open ||
                            (a.on_store_failure == b.on_store_failure && a.local_share <= b.local_share);
  return in_an_outage && (a.consistency != Consistency::approximate || b.consistency == Consistency::approximate);
}

bool same_routes(const CompiledLimit& a, const CompiledLimit& b) {
  return std::equal(a.routes.begin(), a.routes.end(), b.routes.begin(), b.routes.end(), same_route);
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
  // A counter that tiers share takes the numbers of whoever comes: then they have to be the same for all.
  const bool is_shared = a.consumer_key != b.consumer_key;
  const bool is_uniform = std::all_of(ours.begin(), ours.end(), [&](const auto& each) { return each == ours.front(); });
  if (is_shared && !is_uniform) return false;
  const auto as_strict = [](const auto& x, const auto& y) { return at_least_as_strict(x, y); };
  return std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end(), as_strict);
}

// Whether `a` denies whatever `b` would deny. What `b` delays is not told by that.
bool always_first(const CompiledLimit& a, const CompiledLimit& b) {
  if (!is_enforced(a) || a.warn_first || b.by_descriptor()) return false;
  if (!includes(a.when, b.when)) return false;
  if (!at_least_as_coarse({a.consumer_key, a.missing}, {b.consumer_key, b.missing})) return false;
  // Each labels requests by its own templates.
  if (has_part(a.consumer_key, KeyPart::Kind::route) && !same_routes(a, b)) return false;
  const auto delays = [](const std::optional<Limit>& l) {
    return l && l->algorithm() == Algorithm::leaky_bucket_queue;
  };
  if (std::any_of(b.live.by_tier.begin(), b.live.by_tier.end(), delays)) return false;
  return charges_no_less(a.cost, b.cost) && holds_no_less(a, b) && is_stricter_for_all(a, b) &&
         covers_routes(a.routes, b.routes);
}

// Whether no caller who meets the condition has the key, whatever headers it sends.
bool covers_nobody(const Subject& subject) {
  const CompiledLimit& limit = subject.limit;
  const auto& alternatives = limit.consumer_key.alternatives;
  if (limit.missing != Missing::skip) return false;
  return std::none_of(callers.begin(), callers.end(), [&](Caller caller) {
    if (!holds(limit.when, caller, limit.when, subject.ruleset.identity)) return false;
    return std::any_of(alternatives.begin(), alternatives.end(), [&](const std::vector<KeyPart>& parts) {
      return std::all_of(parts.begin(), parts.end(), [&](const KeyPart& part) {
        return part.kind == KeyPart::Kind::header || key_of(caller, ConsumerKey{{{part}}}) != nullptr;
      });
    });
  });
}

}  // namespace

void uncovered(const Subject& subject, Problems& problems) {
  const CompiledLimit& limit = subject.limit;
  if (limit.missing != Missing::skip || !is_enforced(limit) || is_never_missing(limit.consumer_key)) return;
  if (covers_nobody(subject)) return;  // told by unreachable()
  std::vector<RouteTemplate> open;
  for (const RouteTemplate& route : limit.routes) {
    if (is_open(subject, route)) open.push_back(route);
  }
  if (open.empty() && (!limit.routes.empty() || !is_open(subject, RouteIndex::every_request()))) return;
  const auto& missing = subject.written.missing;
  problems.warning(missing ? missing->at : place_of_key(subject.written),
                   fmt::format("'{}' does not cover a request without {}, and no other limit does on {}: set 'missing: "
                               "share' or 'missing: deny', or add a limit by ip",
                               limit.name, missing_parts(limit.consumer_key), routes_text(open)));
}

void unreachable(const Subject& subject, Problems& problems) {
  const CompiledLimit& limit = subject.limit;
  if (covers_nobody(subject)) {
    problems.warning(place_of_key(subject.written),
                     fmt::format("'{}' covers nobody: with 'when: {}' there is no {}; change one of them", limit.name,
                                 text_of(limit.when), missing_parts(limit.consumer_key)));
    return;
  }
  const RouteTemplate route = limit.routes.empty() ? RouteIndex::every_request() : limit.routes.front();
  const auto* first = subject.index.find_covering(route, [&](const RouteIndex::Entry& entry) {
    const CompiledLimit* other = entry.limit;
    if (other == nullptr || other == &limit || !always_first(*other, limit)) return false;
    return other < &limit || !always_first(limit, *other);  // of two that are alike, the first is to stay
  });
  if (first == nullptr) return;
  problems.warning(subject.written.name.at,
                   fmt::format("'{}' never decides: '{}' ({}) denies first, always; remove it, or make it tighter",
                               limit.name, first->limit->name, limit_text(*first->limit)));
}

}  // namespace weir::policy::lint_rules
