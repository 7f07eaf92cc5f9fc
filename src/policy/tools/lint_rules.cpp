#include "policy/tools/lint_rules.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include <fmt/core.h>

#include "core/arithmetic.h"
#include "policy/rules.h"
#include "policy/tools/strictness.h"
#include "policy/words.h"

namespace weir::policy::lint_rules {
namespace {

using Kind = KeyPart::Kind;

// Headers in which proxies pass on the raw path.
constexpr std::array<std::string_view, 14> path_headers{
    ":path",           "request-uri",     "x-envoy-original-path", "x-forwarded-path",
    "x-forwarded-uri", "x-forwarded-url", "x-original-path",       "x-original-uri",
    "x-original-url",  "x-path",          "x-request-path",        "x-request-uri",
    "x-rewrite-url",   "x-uri",
};

// Descriptor keys whose values are usually raw paths.
constexpr std::array<std::string_view, 6> path_keys{"path", ":path", "uri", "url", "request_path", "request_uri"};

template <std::size_t N>
bool is_among(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::ranges::find(words, text) != words.end();
}

bool contains(const std::vector<KeyPart>& parts, Kind kind) {
  return std::ranges::any_of(parts, [&](const KeyPart& part) { return part.kind == kind; });
}

// True if the key has an address but no part that identifies the caller.
bool is_by_ip_alone(const ConsumerKey& key) {
  return !key.alternatives.empty() && std::ranges::all_of(key.alternatives, [](const std::vector<KeyPart>& parts) {
    return contains(parts, Kind::ip) && std::ranges::all_of(parts, is_always_there);
  });
}

bool knows_callers(const CompiledLimit& limit, const Identity& identity) {
  if (requires_kind(limit.when, When::Kind::anonymous)) return false;
  return has_part(limit.consumer_key, Kind::user) ||
         (identity.api_key_verified && has_part(limit.consumer_key, Kind::api_key));
}

// Another limit that identifies the caller, and the route that it shares with this one.
struct Informed {
  const CompiledLimit* limit = nullptr;  // nullptr if none
  std::string route;
};

Informed informed_on(const Subject& subject, const RouteTemplate& route) {
  const auto* found = subject.index.find_overlapping(route, [&](const RouteIndex::Entry& entry) {
    return entry.limit != nullptr && entry.limit != &subject.limit &&
           knows_callers(*entry.limit, subject.ruleset.identity);
  });
  if (found == nullptr) return {};
  const RouteTemplate& narrow = covers(route, found->route) ? found->route : route;
  return {found->limit, narrow == RouteIndex::every_request() ? "every request" : narrow.text()};
}

Informed informed(const Subject& subject) {
  for (const RouteTemplate& route : RouteIndex::routes_of(subject.limit)) {
    if (Informed found = informed_on(subject, route); found.limit != nullptr) return found;
  }
  return {};
}

// The part of the key that any client can choose; nullptr if none. That is a header, an unverified identity, or an
// unverified api_key that is not combined with a user or an address.
const KeyPart* chosen_part(const std::vector<KeyPart>& parts, const Identity& identity) {
  const auto chosen = std::ranges::find_if(parts, [&](const KeyPart& p) {
    return p.kind == Kind::header || (p.kind == Kind::identity && !identity.is_verified(p.name));
  });
  if (chosen != parts.end()) return &*chosen;
  if (identity.api_key_verified || contains(parts, Kind::user) || contains(parts, Kind::ip)) return nullptr;
  const auto key = std::ranges::find_if(parts, [](const KeyPart& p) { return p.kind == Kind::api_key; });
  return key != parts.end() ? &*key : nullptr;
}

// True if, on all routes of the limit, another limit counts such a caller by address or identity, or denies it because
// it has neither. A caller cannot bypass that limit by making up a key.
bool is_counted_elsewhere(const Subject& subject, Caller caller) {
  const bool is_known = is_authenticated(caller, subject.ruleset.identity);
  const auto counts = [&](const RouteIndex::Entry& entry) {
    const CompiledLimit* other = entry.limit;
    if (other == nullptr || other == &subject.limit || other->mode == Mode::shadow) return false;
    const bool applies = includes(other->when, subject.limit.when) ||
                         other->when.kind == (is_known ? When::Kind::authenticated : When::Kind::anonymous);
    const std::vector<KeyPart>* key = key_of(caller, other->consumer_key);
    if (applies && key == nullptr) return other->missing == Missing::deny;
    if (!applies || contains(*key, Kind::header)) return false;
    return contains(*key, Kind::ip) || contains(*key, Kind::user) ||
           (is_known && contains(*key, Kind::api_key) && subject.ruleset.identity.api_key_verified);
  };
  return is_covered(subject, counts);
}

// True if a client that makes up its key is counted elsewhere. Only anonymous clients matter, unless the limit is for
// authenticated callers alone: a client cannot make up identities.
bool is_bounded_elsewhere(const Subject& subject, const KeyPart& chosen) {
  if (requires_kind(subject.limit.when, When::Kind::authenticated)) {
    return is_counted_elsewhere(subject, {.user = true, .api_key = false});
  }
  return is_counted_elsewhere(subject, {.user = false, .api_key = true}) &&
         (chosen.kind == Kind::api_key || is_counted_elsewhere(subject, {.user = false, .api_key = false}));
}

// Suggests a key that reads this header from trusted proxies only, or verifies it; empty if there is none.
std::string_view better_key(const std::string& header, const Identity& identity) {
  if (header == identity.user_header) return "use user, which is read from trusted proxies only";
  if (header == identity.api_key_header) return "use api_key";
  return header == "x-forwarded-for" ? "use ip, which reads it from trusted proxies only" : "";
}

// Suggests the named identity that is read from this header; empty if there is none.
std::string better_identity(const std::string& header, const Identity& identity) {
  const auto found = std::ranges::find(identity.named, header, &NamedIdentity::header);
  if (found == identity.named.end() || !found->verified) return "";
  return fmt::format("use {}, which is read from trusted proxies only", found->name);
}

void warn_of_chosen_part(const Subject& subject, const KeyPart& part, Problems& problems) {
  const Identity& identity = subject.ruleset.identity;
  std::string advice;
  if (part.kind == Kind::header) advice = better_key(part.name, identity);
  if (part.kind == Kind::header && advice.empty()) advice = better_identity(part.name, identity);
  if (advice.empty() && is_bounded_elsewhere(subject, part)) return;
  if (advice.empty() && part.kind == Kind::identity) {
    advice = fmt::format(
        "remove 'verified: false' in {}.{} if the proxy sets the header, or add a limit by ip or user "
        "on the same routes",
        subject.policy.names.identity, part.name);
  }
  if (advice.empty()) {
    advice = fmt::format("add a limit by ip or user on the same routes, or define it in {} if the proxy sets it",
                         subject.policy.names.identity);
  }
  problems.warning(
      position_of_key(subject.written), rule::unverified_key,
      "'{}' is keyed by {}, which any client can choose: a client that sends a new value with each request "
      "bypasses it; {}",
      subject.limit.name, text_of(part), advice);
}

void warn_of_api_key(const Subject& subject, Problems& problems) {
  problems.warning(
      position_of_key(subject.written), rule::unverified_key,
      "'{}' is keyed by an unverified api_key: a client that sends a new key with each request bypasses it; "
      "set 'verified: true' in {}.api_key if the proxy verifies keys, or add a limit by ip on the same "
      "routes",
      subject.limit.name, subject.policy.names.identity);
}

using core::Wide;

bool is_written_to(const RouteTemplate& route) {
  return route.method == "POST" || route.method == "PUT" || route.method == "PATCH" || route.method == "DELETE";
}

// Returns a write route of the policy that `route` covers; nullptr if there is none.
const RouteTemplate* written_route(const RouteTemplate& route, const RouteIndex& index) {
  if (is_written_to(route)) return &route;
  if (route.method) return nullptr;
  const auto* found = index.find_overlapping(
      route, [&](const RouteIndex::Entry& entry) { return is_written_to(entry.route) && covers(route, entry.route); });
  return found == nullptr ? nullptr : &found->route;
}

std::uint64_t in_a_second(const Limit& limit) {
  return core::multiply_divide_floor(limit.rate().count, 1'000'000,
                                     static_cast<std::uint64_t>(limit.rate().per.count()));
}

Mark position_of_burst(const NumbersSpec& numbers, Mark otherwise) {
  if (numbers.burst) return numbers.burst->at;
  if (numbers.capacity) return numbers.capacity->at;
  if (numbers.rate) return numbers.rate->at;
  return numbers.refill_rate ? numbers.refill_rate->at : otherwise;
}

// A tier inherits what it does not override.
TierNumbers tier_numbers(std::string who, Mark at, const NumbersSpec& numbers, const NumbersSpec& otherwise,
                         const Spelled& spelled) {
  const Limit& limit = spelled.limit;
  const auto& written = numbers.rate || numbers.refill_rate ? numbers.rate : otherwise.rate;
  if (written) return {std::move(who), at, rate_text(written->value), written->value.count, limit};
  // A rate in tokens per second has no written period, so the count is that of one second, but at least one token.
  return {std::move(who), at, rate_text(spelled), std::max<std::uint64_t>(in_a_second(limit), 1), limit};
}

void warn_if_far_above(const TierNumbers& tier, Problems& problems) {
  constexpr std::uint64_t far = 10;
  constexpr Duration long_time = std::chrono::hours{1};
  const Limit& limit = tier.limit;
  const Wide fills_in =
      Wide{limit.capacity()} * static_cast<std::uint64_t>(limit.rate().per.count()) / limit.rate().count;
  if (limit.capacity() <= Wide{far} * tier.own_count || fills_in <= Wide{static_cast<std::uint64_t>(long_time.count())})
    return;
  problems.warning(tier.at, rule::large_burst,
                   "{} has a burst of {}, which is more than {} times its rate of {} and takes more than {} to refill: "
                   "lower the burst, or raise the rate",
                   tier.who, limit.capacity(), far, tier.rate, duration_text(long_time));
}

void warn_if_below_a_second(const TierNumbers& tier, Problems& problems) {
  const Limit& limit = tier.limit;
  if (limit.capacity() >= in_a_second(limit)) return;
  problems.warning(tier.at, rule::small_burst,
                   "{} has a burst of {}, less than one second of {}: a client that sends once per second cannot reach "
                   "the rate; raise the burst to at least {}",
                   tier.who, limit.capacity(), tier.rate, in_a_second(limit));
}

}  // namespace

std::vector<TierNumbers> all_numbers(const Subject& subject) {
  std::vector<TierNumbers> all;
  const LimitSpec& written = subject.written;
  const auto& names = subject.ruleset.tiers.names;
  const auto& by_tier = subject.limit.live.by_tier;
  const std::string name = "'" + subject.limit.name + "'";
  bool own_seen = false;
  for (std::size_t tier = 0; tier < std::min(names.size(), by_tier.size()); ++tier) {
    if (!by_tier[tier]) continue;
    const auto found = std::ranges::find_if(
        written.tier_overrides, [&](const TierOverrideSpec& each) { return each.tier.value == names[tier]; });
    if (found != written.tier_overrides.end()) {
      all.push_back(tier_numbers(name + " for " + names[tier], position_of_burst(found->numbers, found->tier.at),
                                 found->numbers, written.numbers, spelled(subject.limit.live, tier)));
    } else if (!own_seen) {
      own_seen = true;
      all.push_back(tier_numbers(name, position_of_burst(written.numbers, written.at), written.numbers, written.numbers,
                                 spelled(subject.limit.live, tier)));
    }
  }
  return all;
}

Mark position_of_key(const LimitSpec& written) {
  return written.consumer_key ? written.consumer_key->at : written.at;
}

void ip_alone(const Subject& subject, Problems& problems) {
  const CompiledLimit& limit = subject.limit;
  if (!is_by_ip_alone(limit.consumer_key) || requires_kind(limit.when, When::Kind::anonymous)) return;
  if (requires_kind(limit.when, When::Kind::authenticated)) {
    problems.warning(position_of_key(subject.written), rule::ip_alone,
                     "'{}' is keyed by ip alone although its callers are authenticated: all users behind one address "
                     "share a counter; use consumer_key: user",
                     limit.name);
    return;
  }
  const Informed other = informed(subject);
  if (other.limit == nullptr) return;
  problems.warning(position_of_key(subject.written), rule::ip_alone,
                   "'{}' is keyed by ip alone on {}, where '{}' identifies the caller: all users behind one address "
                   "share a counter; add 'when: anonymous', or use consumer_key: [user, ip]",
                   limit.name, other.route, other.limit->name);
}

void chosen_key(const Subject& subject, Problems& problems) {
  for (const std::vector<KeyPart>& parts : subject.limit.consumer_key.alternatives) {
    const KeyPart* part = chosen_part(parts, subject.ruleset.identity);
    if (part == nullptr) continue;
    if (part->kind != Kind::api_key) {
      const bool is_path = part->kind == Kind::header && is_among(part->name, path_headers);  // raw_path() warns
      if (!is_path) warn_of_chosen_part(subject, *part, problems);
    } else if (!requires_kind(subject.limit.when, When::Kind::authenticated) && !is_bounded_elsewhere(subject, *part)) {
      warn_of_api_key(subject, problems);
    }
  }
}

void penalty_on_chosen_key(const Subject& subject, Problems& problems) {
  const CompiledLimit& limit = subject.limit;
  if (!limit.penalty || !subject.written.penalty) return;
  for (const std::vector<KeyPart>& parts : limit.consumer_key.alternatives) {
    const KeyPart* part = chosen_part(parts, subject.ruleset.identity);
    const bool is_shared = !contains(parts, Kind::user) && !contains(parts, Kind::ip);  // several callers share the key
    if (part == nullptr || !is_shared) continue;
    problems.warning(subject.written.penalty->at, rule::penalty_lockout,
                     "'{}' has a penalty on {}, which any client can choose: a client that sends another caller's "
                     "value locks that caller out for {}; put the penalty on a limit by ip or user",
                     limit.name, text_of(*part), duration_text(limit.penalty->block));
    return;
  }
}

void raw_path(const Subject& subject, Problems& problems) {
  for (const std::vector<KeyPart>& parts : subject.limit.consumer_key.alternatives) {
    for (const KeyPart& part : parts) {
      if (part.kind != Kind::header || !is_among(part.name, path_headers)) continue;
      problems.warning(position_of_key(subject.written), rule::raw_path_key,
                       "'{}' is keyed by {}, a raw path: every id and every spelling has its own counter; use route, "
                       "which is the template",
                       subject.limit.name, text_of(part));
    }
  }
}

void raw_path(const DescriptorSpec& descriptor, Problems& problems) {
  const bool is_limited = descriptor.rate_limit || !descriptor.descriptors.empty();
  if (!descriptor.value && is_limited && is_among(descriptor.key, path_keys)) {
    problems.warning(descriptor.at, rule::raw_path_key,
                     "descriptor '{}' has no value: every raw path has its own counter; list the paths as values, or "
                     "send a route name instead",
                     descriptor.key);
  }
  for (const DescriptorSpec& below : descriptor.descriptors) raw_path(below, problems);
}

void unlabelled(const DescriptorSpec& descriptor, Problems& problems) {
  if (descriptor.value_to_metric) {
    problems.warning(*descriptor.value_to_metric, rule::no_effect,
                     "value_to_metric of descriptor '{}' has no effect: values that clients can choose do not become "
                     "metric labels; list the values that matter as descriptors",
                     descriptor.key);
  }
  for (const DescriptorSpec& below : descriptor.descriptors) unlabelled(below, problems);
}

void fixed_window_on_writes(const Subject& subject, Problems& problems) {
  if (subject.limit.algorithm != PolicyAlgorithm::fixed_window) return;
  // No other algorithm follows the calendar.
  const auto follows_calendar = [](const std::optional<Limit>& numbers) {
    return numbers && numbers->calendar() != nullptr;
  };
  if (std::ranges::any_of(subject.limit.live.by_tier, follows_calendar)) return;
  for (const RouteTemplate& route : subject.limit.routes) {
    const RouteTemplate* found = written_route(route, subject.index);
    if (found == nullptr) continue;
    const auto& algorithm = subject.written.algorithm;
    problems.warning(algorithm ? algorithm->at : subject.written.at, rule::fixed_window_on_writes,
                     "'{}' uses fixed_window on a write route ({}): up to twice the limit can pass around a window "
                     "boundary; use sliding_window_counter or token_bucket",
                     subject.limit.name, found->text());
    return;
  }
}

void unread_tiers(const Subject& subject, Problems& problems) {
  if (subject.policy.tiers.from_header) return;
  const auto warn = [&](const std::vector<TierOverrideSpec>& overrides) {
    for (const TierOverrideSpec& each : overrides) {
      if (each.tier.value == subject.policy.tiers.fallback.value) continue;
      problems.warning(each.tier.at, rule::unread_tier,
                       "'{}' has numbers for tier '{}', but no header names a request's tier: set {}.from",
                       subject.limit.name, each.tier.value, subject.policy.names.tiers);
    }
  };
  warn(subject.written.tier_overrides);
  if (subject.written.candidate) warn(subject.written.candidate->tier_overrides);
}

void odd_burst(const Subject& subject, Problems& problems) {
  const PolicyAlgorithm algorithm = subject.limit.algorithm;
  // A leaky bucket evens out a stream: its small burst is intended.
  if (algorithm != PolicyAlgorithm::token_bucket && algorithm != PolicyAlgorithm::gcra) return;
  for (const TierNumbers& tier : all_numbers(subject)) {
    warn_if_far_above(tier, problems);
    warn_if_below_a_second(tier, problems);
  }
}

void without_effect_in_shadow(const Subject& subject, Problems& problems) {
  if (subject.limit.mode != Mode::shadow) return;
  const auto warn = [&](Mark at, std::string_view what) {
    problems.warning(at, rule::no_effect_in_shadow,
                     "'{}' has {}, which has no effect in 'mode: shadow': no request is denied; remove it until the "
                     "limit is enforced",
                     subject.limit.name, what);
  };
  if (subject.written.warn_first) warn(subject.written.warn_first->at, "warn_first");
  if (subject.written.penalty) warn(subject.written.penalty->at, "a penalty");
}

}  // namespace weir::policy::lint_rules
