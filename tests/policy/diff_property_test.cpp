// Properties of diff(): a policy equals itself, and swapping two policies swaps the directions.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <map>

#include "policy/route_template.h"
#include "policy/tools/diff.h"

namespace weir::policy {
namespace {

std::size_t any_below(std::size_t end) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::size_t>(0, end));
}

template <class T, std::size_t N>
T any_of(const std::array<T, N>& choices) {
  return choices.at(any_below(N));
}

Limit any_numbers(PolicyAlgorithm algorithm) {
  const Duration per = any_of<Duration, 3>({std::chrono::seconds{1}, std::chrono::minutes{1}, std::chrono::minutes{2}});
  const BucketNumbers bucket{.rate = {1 + any_below(4), per}, .burst = 1 + any_below(4)};
  const WindowNumbers window{.limit = 1 + any_below(8), .window = per};
  switch (algorithm) {
    case PolicyAlgorithm::token_bucket:
      return *Limit::token_bucket(bucket);
    case PolicyAlgorithm::gcra:
      return *Limit::gcra(bucket);
    case PolicyAlgorithm::leaky_bucket:
      if (any_below(2) == 0) return *Limit::leaky_bucket(bucket);
      return *Limit::leaky_bucket(QueueNumbers{.rate = bucket.rate, .queue = bucket.burst});
    case PolicyAlgorithm::fixed_window:
      return *Limit::fixed_window(window);
    case PolicyAlgorithm::sliding_window_log:
      return *Limit::sliding_window_log(window);
    case PolicyAlgorithm::concurrency:
      return *Limit::concurrency({.limit = window.limit, .lease = window.window});
    case PolicyAlgorithm::sliding_window_counter:
      break;
  }
  return *Limit::sliding_window_counter(window);
}

TieredLimit any_tiered(PolicyAlgorithm algorithm, std::size_t tiers) {
  TieredLimit tiered;
  for (std::size_t i = 0; i < tiers; ++i) {
    tiered.by_tier.push_back(any_below(4) == 0 ? std::nullopt : std::optional(any_numbers(algorithm)));
    const bool is_banned = !tiered.by_tier.back() && any_below(2) == 0;
    if (is_banned) tiered.banned.resize(tiers);
    if (is_banned) tiered.banned[i] = true;
  }
  return tiered;
}

RouteTemplate any_route() {
  return *parse_route(
      any_of<std::string_view, 6>({"/api/**", "GET /api/x", "/api/{id}", "POST /login", "/login", "/**"}));
}

When any_when() {
  using Kind = When::Kind;
  When when{any_of<Kind, 5>({Kind::always, Kind::authenticated, Kind::anonymous, Kind::ip_in, Kind::ip_not_in}), {}};
  if (when.kind >= Kind::ip_in) {
    when.ranges.push_back(*AddressRange::parse(any_of<std::string_view, 3>({"10.0.0.0/8", "10.1.0.0/16", "::1"})));
  }
  return when;
}

ConsumerKey any_key() {
  using Kind = KeyPart::Kind;
  const auto part = [] {
    KeyPart made{any_of<Kind, 6>({Kind::user, Kind::api_key, Kind::ip, Kind::global, Kind::route, Kind::header}), {}};
    if (made.kind == Kind::header) made.name = "x-a";
    return made;
  };
  ConsumerKey key;
  for (std::size_t i = 0; i <= any_below(2); ++i) {
    key.alternatives.emplace_back();
    for (std::size_t j = 0; j <= any_below(2); ++j) key.alternatives.back().push_back(part());
  }
  return key;
}

void any_response(CompiledLimit& limit) {
  if (any_below(3) == 0) limit.warn_first = WarnFirst{1 + any_below(2), std::chrono::hours{1 + any_below(2)}};
  if (any_below(3) == 0) {
    limit.penalty =
        Penalty{1 + any_below(2), std::chrono::minutes{1 + any_below(2)}, std::chrono::hours{1 + any_below(2)}};
  }
  limit.on_store_failure = static_cast<OnStoreFailure>(any_below(3));
  limit.consistency.kind = static_cast<Consistency>(any_below(3));
  if (limit.consistency.kind == Consistency::leased) limit.consistency.lease = std::chrono::seconds{1 + any_below(2)};
  if (limit.consistency.kind == Consistency::approximate) {
    limit.consistency.sync = std::chrono::seconds{1 + any_below(2)};
  }
  if (any_below(3) == 0) limit.usage = static_cast<Usage>(any_below(2));
  limit.local_share = static_cast<std::uint32_t>(1 + any_below(2)) * 250'000;
}

void any_cost(CompiledLimit& limit) {
  if (any_below(3) == 0) limit.cost.fixed = Cost{any_below(3)};
  if (any_below(3) == 0) limit.cost.by_route.push_back({any_route(), Cost{any_below(3)}});
  if (any_below(4) == 0) {
    limit.cost.header = HeaderCost{any_of<std::string, 2>({"x-cost", "x-price"}), {}};
    limit.cost.header->max_by_tier.assign(limit.live.by_tier.size(), Cost{1 + any_below(3)});
  }
  const bool says_something = limit.cost.header || !limit.cost.by_route.empty() || limit.cost.fixed != Cost{1};
  limit.cost.is_written = says_something || any_below(2) == 0;
}

CompiledLimit any_limit(std::string name, std::size_t tiers) {
  CompiledLimit limit;
  limit.name = std::move(name);
  const auto algorithm = [] { return static_cast<PolicyAlgorithm>(any_below(7)); };
  for (std::size_t i = any_below(3); i > 0; --i) limit.routes.push_back(any_route());
  if (any_below(2) == 0) limit.when = any_when();
  limit.consumer_key = any_key();
  limit.missing = static_cast<Missing>(any_below(3));
  limit.algorithm = algorithm();
  limit.live = any_tiered(limit.algorithm, tiers);
  limit.mode = any_below(5) == 0 ? Mode::shadow : Mode::enforce;
  any_cost(limit);
  any_response(limit);
  if (any_below(3) == 0) {
    limit.candidate_algorithm = algorithm();
    limit.candidate = any_tiered(*limit.candidate_algorithm, tiers);
  }
  return limit;
}

Descriptor any_descriptor(Ruleset& ruleset, int depth) {
  Descriptor descriptor;
  descriptor.key = any_of<std::string, 2>({"user", "path"});
  descriptor.kind = static_cast<Descriptor::Value>(any_below(3));
  if (descriptor.kind == Descriptor::Value::exact) descriptor.value = any_of<std::string, 2>({"a", "b"});
  if (descriptor.kind == Descriptor::Value::wildcard) descriptor.value = "a*";
  descriptor.shadow_mode = any_below(4) == 0;
  descriptor.share_threshold = any_below(4) == 0;
  descriptor.quota_mode = any_below(4) == 0;
  if (any_below(2) == 0) {
    descriptor.limit = static_cast<std::uint32_t>(ruleset.limits.size());
    CompiledLimit limit;
    limit.name = "descriptor" + std::to_string(ruleset.limits.size());
    limit.domain = "d";
    if (any_below(4) == 0) {
      descriptor.banned_per = std::chrono::minutes{1};
      limit.live.by_tier.resize(ruleset.tiers.names.size());
      limit.live.banned.assign(ruleset.tiers.names.size(), true);
    } else {
      limit.live.by_tier.assign(ruleset.tiers.names.size(), any_numbers(PolicyAlgorithm::fixed_window));
    }
    ruleset.limits.push_back(std::move(limit));
  } else {
    descriptor.unlimited = any_below(2) == 0;
  }
  if (depth > 0 && any_below(2) == 0) descriptor.children.push_back(any_descriptor(ruleset, depth - 1));
  return descriptor;
}

Ruleset any_ruleset() {
  Ruleset ruleset;
  ruleset.identity = Identity::defaults();
  ruleset.identity.ipv6_prefix = any_of<unsigned, 3>({48, 56, 64});
  ruleset.identity.api_key_verified = any_below(4) == 0;
  if (any_below(2) == 0) ruleset.identity.trusted_proxies.push_back(*AddressRange::parse("10.0.0.0/8"));
  ruleset.tiers.names = any_of<std::vector<std::string>, 3>({{{"free"}, {"free", "pro"}, {"pro", "free", "max"}}});
  if (any_below(2) == 0) ruleset.tiers.from_header = "x-plan";
  for (const std::string name : {"a", "b", "c"}) {
    if (any_below(3) > 0) ruleset.limits.push_back(any_limit(name, ruleset.tiers.names.size()));
  }
  if (any_below(2) == 0) {
    Domain domain{.name = "shop", .descriptors = {}};
    for (std::size_t i = any_below(3); i > 0; --i) domain.descriptors.push_back(any_descriptor(ruleset, 1));
    ruleset.domains.push_back(std::move(domain));
  }
  if (any_below(3) == 0) ruleset.labels.push_back(any_route());
  return ruleset;
}

// The same policy with one limit changed, as in a pull request.
Ruleset nearly(Ruleset ruleset) {
  for (CompiledLimit& limit : ruleset.limits) {
    if (limit.by_descriptor()) continue;
    CompiledLimit other = any_limit(limit.name, ruleset.tiers.names.size());
    switch (any_below(6)) {
      case 0:
        limit.live = any_tiered(limit.algorithm, ruleset.tiers.names.size());
        break;
      case 1:
        limit.routes = other.routes;
        break;
      case 2:
        limit.consumer_key = other.consumer_key;
        break;
      case 3:
        limit.when = other.when;
        break;
      case 4:
        limit.penalty = other.penalty;
        break;
      default:
        limit.cost = other.cost;
    }
    break;
  }
  return ruleset;
}

std::map<Direction, int> counts(const std::vector<Change>& changes) {
  std::map<Direction, int> counts;
  for (const Change& change : changes) ++counts[change.direction];
  return counts;
}

void expect_mirrored(const Ruleset& a, const Ruleset& b) {
  auto there = counts(diff(a, b));
  auto back = counts(diff(b, a));
  RC_ASSERT(there[Direction::tighter] == back[Direction::looser]);
  RC_ASSERT(there[Direction::looser] == back[Direction::tighter]);
  RC_ASSERT(there[Direction::different] == back[Direction::different]);
  RC_ASSERT(there[Direction::neutral] == back[Direction::neutral]);
}

RC_GTEST_PROP(DiffProperty, NothingChangesBetweenAPolicyAndItself, ()) {
  const Ruleset ruleset = any_ruleset();
  RC_ASSERT(diff(ruleset, ruleset).empty());
}

RC_GTEST_PROP(DiffProperty, WhatIsTighterIsLooserTheOtherWayRound, ()) {
  expect_mirrored(any_ruleset(), any_ruleset());
}

RC_GTEST_PROP(DiffProperty, AChangeOfOneFieldIsMirroredToo, ()) {
  const Ruleset before = any_ruleset();
  const Ruleset after = nearly(before);
  expect_mirrored(before, after);
  const auto there = counts(diff(before, after));
  if (there.size() == 1 && there.contains(Direction::tighter)) {
    const auto back = counts(diff(after, before));
    RC_ASSERT(back.size() == 1U && back.contains(Direction::looser));
  }
}

}  // namespace
}  // namespace weir::policy
