#include "match/condition.h"

#include <algorithm>

namespace weir::match {
namespace {

using policy::When;

constexpr Truth truth_of(bool holds) noexcept {
  return holds ? Truth::yes : Truth::no;
}

constexpr Truth opposite(Truth truth) noexcept {
  if (truth == Truth::unknown) return truth;
  return truth_of(truth == Truth::no);
}

Truth is_in(const When& when, const Caller& caller) noexcept {
  if (!caller.address_known) return Truth::unknown;
  return truth_of(std::ranges::any_of(when.ranges, [&](const auto& range) { return range.contains(*caller.address); }));
}

Truth is_identified(const When& when, const ConditionInput& input) noexcept {
  const IdentityValue value = identity_of(input.identity, input.caller, input.query, when.identity);
  if (value.is_ambiguous) return Truth::unknown;
  if (when.kind == When::Kind::identified_by) return truth_of(!value.text.empty());
  return truth_of(std::ranges::binary_search(when.values, value.text));
}

}  // namespace

Truth evaluate(const When& when, const ConditionInput& input) noexcept {
  switch (when.kind) {
    case When::Kind::always:
      return Truth::yes;
    case When::Kind::authenticated:
      return truth_of(input.caller.authenticated);
    case When::Kind::anonymous:
      return truth_of(!input.caller.authenticated);
    case When::Kind::ip_in:
      return is_in(when, input.caller);
    case When::Kind::ip_not_in:
      return opposite(is_in(when, input.caller));
    case When::Kind::identified_by:
    case When::Kind::identity_in:
      return is_identified(when, input);
    case When::Kind::negation:
      return opposite(evaluate(when.conditions.front(), input));
    case When::Kind::all:
    case When::Kind::any:
      break;
  }
  Truth combined = truth_of(when.kind == When::Kind::all);
  for (const When& each : when.conditions) {
    const Truth part = evaluate(each, input);
    combined = when.kind == When::Kind::all ? std::min(combined, part) : std::max(combined, part);
  }
  return combined;
}

bool surely_matches_any(std::span<const policy::RouteTemplate> routes, const Query& query) noexcept {
  return std::ranges::any_of(routes,
                             [&](const auto& route) { return surely_matches(route, query.method, query.path); });
}

ExemptBy exempt_by(const policy::Ruleset& ruleset, const Caller& caller, const Query& query) noexcept {
  const policy::Exemptions& exempt = ruleset.exemptions;
  const auto is_inside = [&](const auto& range) { return range.contains(*caller.address); };
  const auto is_proxy = [&] { return caller.trusted && policy::Address::parse_endpoint(query.ip) == caller.address; };
  if (caller.address_known && std::ranges::any_of(exempt.addresses, is_inside) && !is_proxy()) {
    return ExemptBy::address;
  }
  const auto is_listed = [&](const policy::IdentityValues& each) {
    const std::string_view value = identity_of(ruleset.identity, caller, query, each.identity).text;
    return !value.empty() && std::ranges::binary_search(each.values, value);
  };
  if (std::ranges::any_of(exempt.identities, is_listed)) return ExemptBy::identity;
  return surely_matches_any(exempt.routes, query) ? ExemptBy::route : ExemptBy::nothing;
}

}  // namespace weir::match
