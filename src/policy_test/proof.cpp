#include "policy_test/proof.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "policy/consistency.h"
#include "policy/tools/strictness.h"
#include "policy/vocabulary.h"
#include "text/yaml/problem.h"
#include "weir/query.h"

namespace weir::policy_test {
namespace {

using policy::CompiledLimit;
using policy::KeyPart;
using policy::RouteTemplate;

// An address of a client, from the range for documentation.
constexpr std::string_view any_client = "203.0.113.7";

// Callers that have, or do not have, a user and an API key. Each is a separate case of a proof.
std::vector<policy::Caller> cases_of(const BoundCaller& by, const policy::Identity& identity) {
  std::vector<policy::Caller> cases;
  for (const policy::Caller caller : {policy::Caller{false, false}, policy::Caller{false, true},
                                      policy::Caller{true, false}, policy::Caller{true, true}}) {
    const bool is_authenticated = policy::is_authenticated(caller, identity);
    if (by.kind == BoundCaller::Kind::user && !caller.user) continue;
    if (by.kind == BoundCaller::Kind::api_key && !caller.api_key) continue;
    if (by.identity == BoundCaller::Identity::anonymous && is_authenticated) continue;
    if (by.identity == BoundCaller::Identity::authenticated && !is_authenticated) continue;
    cases.push_back(caller);
  }
  return cases;
}

std::string_view case_text(policy::Caller caller) noexcept {
  if (caller.user) return caller.api_key ? "callers with a user and an API key" : "callers with a user";
  return caller.api_key ? "callers with an API key" : "callers without a user or an API key";
}

// A path that the route matches, and no route that does not overlap it.
std::string sample_path(const RouteTemplate& route) {
  std::string path;
  for (const policy::Segment& segment : route.segments) path += "/" + (segment.is_literal() ? segment.text : "~");
  return path.empty() ? "/" : path;
}

bool is_single_request(const RouteTemplate& route) noexcept {
  return route.method && !route.trailing_wildcard && std::ranges::all_of(route.segments, &policy::Segment::is_literal);
}

// Whether requests of a case have a part of a key.
enum class Has : std::uint8_t { always, never, as_they_like };

// Why a limit does not bound a case, or the counter and the number by which it does.
struct Share {
  std::string why_not;  // empty: it bounds the case
  std::string counter;  // requests with equal counters are counted together
  Wide at_most = 0;
};

class TierProof {
 public:
  TierProof(const BoundSpec& bound, const match::Matcher& matcher, std::uint32_t tier, std::uint64_t nodes)
      : bound_(bound),
        matcher_(matcher),
        ruleset_(matcher.ruleset()),
        tier_(tier),
        nodes_(nodes),
        cases_(cases_of(bound.by, ruleset_.identity)),
        scratch_(matcher) {}

  [[nodiscard]] Proof prove() {
    for (std::size_t i = 0; i < cases_.size(); ++i) add_case(i);
    return cheapest();
  }

 private:
  // A counter, the cases whose requests it counts, and the number that it admits.
  struct Counter {
    std::uint32_t limit = 0;
    unsigned cases = 0;  // bits
    Wide at_most = 0;
  };

  void add_case(std::size_t number) {
    match_case(cases_[number]);
    for (std::uint32_t i = 0; i < ruleset_.limits.size(); ++i) {
      if (ruleset_.limits[i].by_descriptor()) continue;
      const Share share = share_of(i, cases_[number]);
      if (!share.why_not.empty()) {
        reasons_[number].push_back(fmt::format("{} {}", ruleset_.limits[i].name, share.why_not));
        continue;
      }
      Counter& counter = counters_[fmt::format("{} {}", i, share.counter)];
      counter.limit = i;
      counter.cases |= 1U << number;
      counter.at_most = share.at_most;
    }
  }

  // Lets the matcher decide about a sample request of the case: conditions, bans and tiers.
  void match_case(policy::Caller caller) {
    const std::string path = sample_path(bound_.route);
    std::vector<Header> headers;
    if (caller.api_key) headers.push_back({ruleset_.identity.api_key_header, "key"});
    if (bound_.by.kind == BoundCaller::Kind::header) headers.push_back({bound_.by.name, "value"});
    Query query;
    query.method = bound_.route.method ? std::string_view(*bound_.route.method) : "GET";
    query.path = path;
    query.ip = bound_.by.address.empty() ? any_client : std::string_view(bound_.by.address);
    query.headers = headers;
    if (caller.user) query.user = "user";
    if (caller.api_key && ruleset_.identity.api_key_verified) query.api_key = "key";
    query.tier = ruleset_.tiers.names[tier_];
    matcher_.match(query, scratch_, matched_);
  }

  [[nodiscard]] bool is_exempt(std::uint32_t limit, match::Exemption why) const noexcept {
    return std::ranges::any_of(matched_.exempt,
                               [&](const auto& each) { return each.limit == limit && each.why == why; });
  }

  [[nodiscard]] Share share_of(std::uint32_t number, policy::Caller caller) const {
    const CompiledLimit& limit = ruleset_.limits[number];
    const auto no = [](std::string why) { return Share{std::move(why), {}, 0}; };
    if (limit.mode == policy::Mode::shadow) return no("is in shadow mode");
    if (!policy::covers_route(limit.routes, bound_.route)) return no("does not cover all of these requests");
    if (overlaps_any(limit.except)) return no("excepts some of these requests");
    if (overlaps_any(ruleset_.exemptions.routes)) return no("does not cover exempt routes");
    if (matched_.exempt_by != match::ExemptBy::nothing) return no("does not cover exempt callers");
    if (depends_on_caller(limit.when)) return no("applies to some of these callers only");
    if (is_exempt(number, match::Exemption::condition)) return no("does not apply to them");
    if (is_exempt(number, match::Exemption::banned)) return {.why_not = {}, .counter = "ban", .at_most = 0};
    if (!limit.live.by_tier[tier_]) return no("has no limit for this tier");
    const Limit& numbers = *limit.live.by_tier[tier_];
    const bool is_concurrency = numbers.algorithm() == Algorithm::concurrency;
    if (is_concurrency != bound_.is_at_once()) {
      return no(is_concurrency ? "limits requests at once, not per time" : "limits requests per time, not at once");
    }
    Share share = counter_of(limit, caller);
    if (share.why_not.empty() && share.counter != "missing") share.at_most = max_of(limit, numbers);
    return share;
  }

  // The counter of a case's requests; `missing` if they are all denied for lack of a key.
  [[nodiscard]] Share counter_of(const CompiledLimit& limit, policy::Caller caller) const {
    for (std::size_t i = 0; i < limit.consumer_key.alternatives.size(); ++i) {
      const std::vector<KeyPart>& parts = limit.consumer_key.alternatives[i];
      Has has = Has::always;
      for (const KeyPart& part : parts) {
        const Has has_part = has_of(part, caller);
        if (has_part != Has::always && has != Has::never) has = has_part;
      }
      if (has == Has::never) continue;
      const bool is_one =
          has == Has::always && std::ranges::all_of(parts, [&](const KeyPart& part) { return is_fixed(part, limit); });
      if (!is_one) return {fmt::format("counts them apart, by {}", text_of(limit.consumer_key)), {}, 0};
      return {{}, std::to_string(i), 0};
    }
    if (limit.missing == policy::Missing::share) return {{}, "shared", 0};
    if (limit.missing == policy::Missing::deny) return {{}, "missing", 0};
    return {fmt::format("skips them: they have no {}", text_of(limit.consumer_key)), {}, 0};
  }

  [[nodiscard]] Has has_of(const KeyPart& part, policy::Caller caller) const noexcept {
    switch (part.kind) {
      case KeyPart::Kind::global:
      case KeyPart::Kind::route:
      case KeyPart::Kind::ip:
        return Has::always;
      case KeyPart::Kind::user:
        return caller.user ? Has::always : Has::never;
      case KeyPart::Kind::api_key:
        return caller.api_key ? Has::always : Has::never;
      case KeyPart::Kind::header:
      case KeyPart::Kind::identity:
        return is_fixed_name(part) ? Has::always : Has::as_they_like;
    }
    return Has::as_they_like;
  }

  // True if all requests of the bound have the same value.
  [[nodiscard]] bool is_fixed(const KeyPart& part, const CompiledLimit& limit) const noexcept {
    using Kind = BoundCaller::Kind;
    switch (part.kind) {
      case KeyPart::Kind::global:
        return true;
      case KeyPart::Kind::ip:
        return bound_.by.kind == Kind::ip;
      case KeyPart::Kind::user:
        return bound_.by.kind == Kind::user;
      case KeyPart::Kind::api_key:
        return bound_.by.kind == Kind::api_key;
      case KeyPart::Kind::header:
      case KeyPart::Kind::identity:
        return is_fixed_name(part);
      case KeyPart::Kind::route:
        return has_one_route(limit);
    }
    return false;
  }

  // True for the header or the named identity of the bound.
  [[nodiscard]] bool is_fixed_name(const KeyPart& part) const noexcept {
    using Kind = BoundCaller::Kind;
    const Kind kind = part.kind == KeyPart::Kind::header ? Kind::header : Kind::identity;
    return bound_.by.kind == kind && part.name == bound_.by.name;
  }

  // True if all requests of the bound match the same route of the limit.
  [[nodiscard]] bool has_one_route(const CompiledLimit& limit) const noexcept {
    if (is_single_request(bound_.route)) return true;
    const auto overlaps = [&](const RouteTemplate& route) { return policy::overlap(route, bound_.route); };
    return !limit.routes.empty() && std::ranges::count_if(limit.routes, overlaps) == 1;
  }

  // True if the condition depends on what differs between the requests of the bound: an address, unless the bound
  // names one, or a named identity.
  [[nodiscard]] bool depends_on_caller(const policy::When& when) const noexcept {
    using Kind = policy::When::Kind;
    if (when.kind == Kind::ip_in || when.kind == Kind::ip_not_in) return bound_.by.address.empty();
    if (when.kind == Kind::identified_by || when.kind == Kind::identity_in) return true;
    return std::ranges::any_of(when.conditions, [&](const policy::When& each) { return depends_on_caller(each); });
  }

  [[nodiscard]] bool overlaps_any(const std::vector<RouteTemplate>& routes) const noexcept {
    return std::ranges::any_of(routes,
                               [&](const RouteTemplate& route) { return policy::overlap(route, bound_.route); });
  }

  [[nodiscard]] Wide max_of(const CompiledLimit& limit, const Limit& numbers) const {
    const Cost cost{min_cost(limit)};
    if (bound_.is_at_once()) return max_at_once(numbers, cost).value_or(0);
    const Span span{bound_.per, bound_.calendar};
    Wide most = max_of_numbers(limit, numbers, cost, span);
    if (limit.warn_first) {
      // Warnings are counted by a log of their own.
      const auto warnings = Limit::sliding_window_log({limit.warn_first->count, limit.warn_first->per});
      if (warnings) most += max_admitted(*warnings, Cost{1}, span).value_or(0);
    }
    return most;
  }

  // Several nodes may exceed an approximate limit by what each may spend without asking.
  [[nodiscard]] Wide max_of_numbers(const CompiledLimit& limit, const Limit& numbers, Cost cost,
                                    const Span& span) const {
    const auto exact = [&](const Limit& of) { return max_admitted(of, cost, span).value_or(0); };
    if (policy::effective_consistency(limit, numbers, nodes_).kind != policy::Consistency::approximate) {
      return exact(numbers);
    }
    const policy::ApproximateBound bound = policy::approximate_bound(numbers, nodes_);
    const WindowNumbers window{bound.max_admitted, numbers.rate().per};
    if (numbers.algorithm() == Algorithm::fixed_window) {
      const auto wider = Limit::fixed_window(window);
      return exact(wider ? *wider : numbers);
    }
    if (numbers.algorithm() == Algorithm::sliding_window_counter) {
      const auto wider = Limit::sliding_window_counter(window);
      return exact(wider ? *wider : numbers);
    }
    const Wide per = static_cast<std::uint64_t>(bound.per.count());
    const Wide length = static_cast<std::uint64_t>(span.length.count());
    return Wide{bound.max_admitted} * (per + length) / (per * cost.units());
  }

  // The lowest cost of these requests.
  [[nodiscard]] std::uint64_t min_cost(const CompiledLimit& limit) const {
    const policy::CostRule& rule = limit.cost;
    if (!rule.is_written) return bound_.cost;
    if (rule.header) return 1;
    std::uint64_t lowest = rule.fixed.units();
    const auto covers = [&](const policy::RouteCost& each) { return policy::covers(each.route, bound_.route); };
    const auto covering = std::ranges::find_if(rule.by_route, covers);
    if (covering != rule.by_route.end()) lowest = covering->cost.units();
    for (const policy::RouteCost& each : rule.by_route) {
      if (policy::overlap(each.route, bound_.route)) lowest = std::min(lowest, each.cost.units());
    }
    return std::max<std::uint64_t>(1, lowest);
  }

  // Chooses counters that together cover every case, with the smallest sum.
  [[nodiscard]] Proof cheapest() const {
    struct Choice {
      std::optional<Wide> sum;
      std::vector<std::uint32_t> limits;
    };
    const unsigned all = (1U << cases_.size()) - 1;
    std::vector<Choice> best(std::size_t{all} + 1);
    best[0].sum = 0;
    for (unsigned covered = 0; covered < all; ++covered) {
      if (!best[covered].sum) continue;
      for (const auto& [name, counter] : counters_) {
        Choice& with = best[covered | counter.cases];
        const Wide sum = *best[covered].sum + counter.at_most;
        if ((covered | counter.cases) == covered || (with.sum && *with.sum <= sum)) continue;
        with.sum = sum;
        with.limits = best[covered].limits;
        with.limits.push_back(counter.limit);
      }
    }
    Proof proof;
    proof.at_most = best[all].sum;
    if (!proof.at_most) {
      proof.gap = gap();
      return proof;
    }
    std::vector<std::uint32_t> limits = best[all].limits;
    std::ranges::sort(limits);
    limits.erase(std::unique(limits.begin(), limits.end()), limits.end());
    for (const std::uint32_t limit : limits) proof.limits.push_back(ruleset_.limits[limit].name);
    return proof;
  }

  [[nodiscard]] std::string gap() const {
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      const bool is_covered =
          std::ranges::any_of(counters_, [&](const auto& each) { return (each.second.cases & (1U << i)) != 0; });
      if (is_covered) continue;
      const auto& why = reasons_[i];
      return fmt::format("no limit bounds {}{}", case_text(cases_[i]),
                         why.empty() ? "" : fmt::format(": {}", fmt::join(why, "; ")));
    }
    return "no limit bounds these requests";
  }

  const BoundSpec& bound_;
  const match::Matcher& matcher_;
  const policy::Ruleset& ruleset_;
  const std::uint32_t tier_;
  const std::uint64_t nodes_;
  const std::vector<policy::Caller> cases_;
  match::MatchScratch scratch_;
  match::Matched matched_;
  std::map<std::string, Counter> counters_;
  std::array<std::vector<std::string>, 4> reasons_;  // by case
};

// True if `a` is higher: a missing number is infinite.
bool is_higher(const Proof& a, const Proof& b) noexcept {
  if (!a.at_most || !b.at_most) return !a.at_most && b.at_most;
  return *a.at_most > *b.at_most;
}

std::string number_text(Wide number) {
  constexpr Wide max = ~std::uint64_t{0};
  return std::to_string(static_cast<std::uint64_t>(std::min(number, max)));
}

}  // namespace

Proof prove_tier(const BoundSpec& bound, const match::Matcher& matcher, std::uint32_t tier, std::uint64_t nodes) {
  return TierProof(bound, matcher, tier, nodes).prove();
}

BoundResult prove(const BoundSpec& bound, const match::Matcher& matcher, std::uint64_t nodes) {
  const policy::Tiers& tiers = matcher.ruleset().tiers;
  BoundResult result;
  if (bound.by.kind == BoundCaller::Kind::identity && matcher.ruleset().identity.find(bound.by.name) == nullptr) {
    result.problem = fmt::format("the policy has no identity {}", text::in_quotes(bound.by.name));
    return result;
  }
  std::vector<std::uint32_t> wanted;
  for (std::uint32_t tier = 0; tier < tiers.names.size(); ++tier) {
    if (!bound.tier || tiers.names[tier] == bound.tier->value) wanted.push_back(tier);
  }
  if (wanted.empty()) {
    result.problem = fmt::format("the policy has no tier {}{}", text::in_quotes(bound.tier->value),
                                 text::did_you_mean(bound.tier->value, tiers.names));
    return result;
  }
  std::size_t equals = 0;
  for (const std::uint32_t tier : wanted) {
    Proof proof = prove_tier(bound, matcher, tier, nodes);
    if (equals == 0 || is_higher(proof, result.proof)) {
      result.proof = std::move(proof);
      result.tiers.clear();
      equals = 0;
    } else if (is_higher(result.proof, proof)) {
      continue;
    }
    result.tiers.push_back(tiers.names[tier]);
    ++equals;
  }
  if (equals == wanted.size()) result.tiers.clear();
  const std::string of_tier = result.tiers.empty() ? "" : fmt::format(" in tier {}", fmt::join(result.tiers, ", "));
  result.holds = result.proof.at_most && *result.proof.at_most <= bound.at_most;
  if (result.holds) return result;
  result.problem = result.proof.at_most
                       ? fmt::format("up to {} requests can be admitted{}, by {}", number_text(*result.proof.at_most),
                                     of_tier, fmt::join(result.proof.limits, " and "))
                       : result.proof.gap + of_tier;
  return result;
}

std::string BoundResult::text() const {
  if (!holds) return problem;
  const std::string by = proof.limits.empty() ? "" : fmt::format(", by {}", fmt::join(proof.limits, " and "));
  return fmt::format("proved: {}{}", number_text(*proof.at_most), by);
}

}  // namespace weir::policy_test
