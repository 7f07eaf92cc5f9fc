#include "match/explain.h"

#include <algorithm>
#include <span>
#include <utility>

#include "match/consumer.h"
#include "match/matcher.h"
#include "policy/words.h"

namespace weir::match {
namespace {

std::string unmet_condition(const policy::When& when, const Caller& caller) {
  using Kind = policy::When::Kind;
  const std::string address = caller.address ? caller.address->text() : "unknown";
  switch (when.kind) {
    case Kind::authenticated:
      return "it covers authenticated callers only, and this one is anonymous";
    case Kind::anonymous:
      return "it covers anonymous callers only, and this one is authenticated";
    case Kind::ip_in:
    case Kind::ip_not_in:
      return "its condition excludes address " + address + ": " + text_of(when);
    default:
      break;
  }
  return "its condition is not met: " + text_of(when);
}

std::string why_exempt(const Matched::Exempt& exempt, const policy::CompiledLimit& limit, const Matched& matched,
                       const std::string& tier) {
  switch (exempt.why) {
    case Exemption::excepted:
      return "its except excludes the route: " + policy::routes_text(limit.except);
    case Exemption::condition:
      return unmet_condition(limit.when, matched.caller);
    case Exemption::key_missing:
      return "the request has no " + text_of(limit.consumer_key) +
             (limit.missing == policy::Missing::deny ? ", and the limit denies requests without it"
                                                     : ", and the limit skips requests without it");
    case Exemption::unlimited:
      if (exempt.exception != 0) return "an override makes this consumer unlimited";
      return "tier '" + tier + "' is unlimited";
    case Exemption::reserve_too_large:
      break;
    case Exemption::banned:
      if (exempt.exception != 0) return "an override bans this consumer";
      return limit.live.by_tier.size() > 1 ? "it bans tier '" + tier + "'" : "it bans every request";
    case Exemption::blocked:
      break;
  }
  return {};
}

std::string why_no_limit(const policy::Ruleset& ruleset, const Matched& matched, const Query& query) {
  const policy::Exemptions& exempt = ruleset.exemptions;
  switch (matched.exempt_by) {
    case ExemptBy::nothing:
      break;
    case ExemptBy::address:
      return "address " + matched.caller.address->text() + " is exempt";
    case ExemptBy::identity:
      for (const policy::IdentityValues& each : exempt.identities) {
        const IdentityValue value = identity_of(ruleset.identity, matched.caller, query, each.identity);
        if (std::ranges::find(each.values, value.text) != each.values.end()) {
          return each.identity + " '" + std::string(value.text) + "' is exempt";
        }
      }
      break;
    case ExemptBy::route:
      for (const policy::RouteTemplate& route : exempt.routes) {
        if (surely_matches(route, query.method, query.path)) return "route " + route.text() + " is exempt";
      }
      break;
  }
  return {};
}

// The headers of an untrusted sender that are read from trusted proxies only.
std::vector<std::string> ignored_headers(const policy::Ruleset& ruleset, const Query& query) {
  const policy::Identity& identity = ruleset.identity;
  std::vector<std::string> trusted_only = {identity.user_header, "x-forwarded-for", "forwarded"};
  if (identity.address_header) trusted_only.push_back(*identity.address_header);
  if (ruleset.tiers.from_header) trusted_only.push_back(*ruleset.tiers.from_header);
  if (identity.api_key_verified) trusted_only.push_back(identity.api_key_header);
  for (const policy::NamedIdentity& named : identity.named) {
    if (named.verified) trusted_only.push_back(named.header);
  }
  for (const policy::CompiledLimit& limit : ruleset.limits) {
    if (limit.cost.header) trusted_only.push_back(limit.cost.header->header);
  }
  std::vector<std::string> ignored;
  for (const Header& header : query.headers) {
    Query alone;
    alone.headers = std::span<const Header>(&header, 1);
    if (std::ranges::any_of(trusted_only, [&](const std::string& name) { return has_header(alone, name); })) {
      ignored.emplace_back(header.name);
    }
  }
  return ignored;
}

}  // namespace

Explanation explain(const Matcher& matcher, const Query& query, const ExceptionsAt& exceptions) {
  const policy::Ruleset& ruleset = matcher.ruleset();
  MatchScratch scratch(matcher);
  Matched matched;
  matcher.match(query, scratch, matched, exceptions);

  Explanation explanation;
  explanation.exempt = why_no_limit(ruleset, matched, query);
  explanation.outcome = explain_outcome(ruleset, matched);
  if (!explanation.exempt.empty()) explanation.outcome.text = "Admitted (200): " + explanation.exempt;
  explanation.route = matcher.labels()[matched.label];
  explanation.caller = matched.caller;
  if (matched.denied_by == by_block) explanation.block = matched.block.number;
  explanation.tier = ruleset.tiers.names[matched.caller.tier];
  for (const policy::NamedIdentity& named : ruleset.identity.named) {
    const IdentityValue value = identity_of(ruleset.identity, matched.caller, query, named.name);
    if (!value.text.empty()) explanation.identities.emplace_back(named.name, value.text);
  }
  if (!matched.caller.trusted) explanation.ignored_headers = ignored_headers(ruleset, query);
  for (std::uint32_t i = 0; i < ruleset.limits.size(); ++i) {
    const policy::CompiledLimit& limit = ruleset.limits[i];
    LimitExplanation& part = explanation.limits.emplace_back();
    part.limit = i;
    part.why_not = limit.by_descriptor()         ? "it is reached by descriptors only"
                   : explanation.block != 0      ? "the caller is blocked"
                   : !explanation.exempt.empty() ? explanation.exempt
                                                 : "none of its routes matches";
    const auto covered = std::ranges::find(matched.limits, i, &MatchedLimit::limit);
    const auto exempt = std::ranges::find(matched.exempt, i, &Matched::Exempt::limit);
    if (exempt != matched.exempt.end()) {
      part.bans = exempt->why == Exemption::banned;
      part.why_not = why_exempt(*exempt, limit, matched, explanation.tier);
      part.exception = exempt->exception;
    }
    if (covered == matched.limits.end()) continue;
    part.covers = true;
    part.why_not.clear();
    if (!limit.routes.empty()) part.route = matcher.routes_of(i)[covered->route];
    part.consumer = describe_consumer(matched.key(static_cast<std::size_t>(covered - matched.limits.begin())));
    part.numbers = covered->replaced != nullptr ? covered->replaced->numbers : limit.live.by_tier[matched.caller.tier];
    part.exception = covered->exception;
    if (limit.candidate) part.candidate = limit.candidate->by_tier[matched.caller.tier];
    part.cost = covered->cost;
  }
  return explanation;
}

}  // namespace weir::match
