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

// Headers in which proxies pass on the path as it was sent.
constexpr std::array<std::string_view, 14> path_headers{
    ":path",           "request-uri",     "x-envoy-original-path", "x-forwarded-path",
    "x-forwarded-uri", "x-forwarded-url", "x-original-path",       "x-original-uri",
    "x-original-url",  "x-path",          "x-request-path",        "x-request-uri",
    "x-rewrite-url",   "x-uri",
};

// What descriptors call it.
constexpr std::array<std::string_view, 6> path_keys{"path", ":path", "uri", "url", "request_path", "request_uri"};

template <std::size_t N>
bool is_among(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::ranges::find(words, text) != words.end();
}

bool contains(const std::vector<KeyPart>& parts, Kind kind) {
  return std::ranges::any_of(parts, [&](const KeyPart& part) { return part.kind == kind; });
}

// Counted by address, and by nothing that says who is calling.
bool is_by_ip_alone(const ConsumerKey& key) {
  return !key.alternatives.empty() && std::ranges::all_of(key.alternatives, [](const std::vector<KeyPart>& parts) {
    return contains(parts, Kind::ip) && std::ranges::all_of(parts, is_always_there);
  });
}

bool knows_callers(const CompiledLimit& limit, const Identity& identity) {
  if (limit.when.kind == When::Kind::anonymous) return false;
  return has_part(limit.consumer_key, Kind::user) ||
         (identity.api_key_verified && has_part(limit.consumer_key, Kind::api_key));
}

// Another limit that knows who is calling on a route of this one.
struct Informed {
  const CompiledLimit* limit = nullptr;  // nullptr: there is none
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

// A part of the key for which the client can send what it likes; nullptr if there is none.
// An api_key that nobody verifies is one of these, unless more is known of who sends it.
const KeyPart* chosen_part(const std::vector<KeyPart>& parts, const Identity& identity) {
  const auto header = std::ranges::find_if(parts, [](const KeyPart& p) { return p.kind == Kind::header; });
  if (header != parts.end()) return &*header;
  if (identity.api_key_verified || contains(parts, Kind::user) || contains(parts, Kind::ip)) return nullptr;
  const auto key = std::ranges::find_if(parts, [](const KeyPart& p) { return p.kind == Kind::api_key; });
  return key != parts.end() ? &*key : nullptr;
}

// Whether such a caller is counted by its address, or by who it is, on all routes of the limit, or denied for want of
// that: by a limit that it cannot escape with a key that it makes up.
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

// Whether a client that makes up its key is counted elsewhere. Of callers who are known and of those who are not, the
// latter: nobody can make up as many of the former. Where a limit is for the known alone, these.
bool is_bounded_elsewhere(const Subject& subject, const KeyPart& chosen) {
  if (subject.limit.when.kind == When::Kind::authenticated) {
    return is_counted_elsewhere(subject, {.user = true, .api_key = false});
  }
  return is_counted_elsewhere(subject, {.user = false, .api_key = true}) &&
         (chosen.kind == Kind::api_key || is_counted_elsewhere(subject, {.user = false, .api_key = false}));
}

// The words of the policy that read this header from trusted proxies only, or check it; empty if none does.
std::string_view better_key(const std::string& header, const Identity& identity) {
  if (header == identity.user_header) return "count by user, which is believed from trusted proxies only";
  if (header == identity.api_key_header) return "count by api_key";
  return header == "x-forwarded-for" ? "count by ip, which reads it from trusted proxies only" : "";
}

void warn_of_header(const Subject& subject, const KeyPart& part, Problems& problems) {
  const std::string_view better = better_key(part.header, subject.ruleset.identity);
  if (better.empty() && is_bounded_elsewhere(subject, part)) return;
  const std::string_view advice = better.empty() ? "have a limit by ip or user beside it" : better;
  problems.warning(place_of_key(subject.written), rule::unverified_key,
                   "'{}' counts by {}, which any client can choose: who changes it with every request is "
                   "never limited; {}",
                   subject.limit.name, text_of(part), advice);
}

void warn_of_api_key(const Subject& subject, Problems& problems) {
  problems.warning(place_of_key(subject.written), rule::unverified_key,
                   "'{}' counts by api_key, which nobody verifies: who makes up another with every request "
                   "is never limited; set 'verified: true' in {}.api_key if the proxy checks keys, "
                   "or have a limit by ip beside it",
                   subject.limit.name, subject.policy.names.identity);
}

using core::Wide;

bool is_written_to(const RouteTemplate& route) {
  return route.method == "POST" || route.method == "PUT" || route.method == "PATCH" || route.method == "DELETE";
}

// A route that `route` covers and that the policy says is written to; nullptr if it says of none.
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

Mark place_of_burst(const NumbersSpec& numbers, Mark otherwise) {
  if (numbers.burst) return numbers.burst->at;
  if (numbers.capacity) return numbers.capacity->at;
  if (numbers.rate) return numbers.rate->at;
  return numbers.refill_rate ? numbers.refill_rate->at : otherwise;
}

// What a tier does not say is as in the limit.
TierNumbers tier_numbers(std::string who, Mark at, const NumbersSpec& numbers, const NumbersSpec& otherwise,
                         const Spelled& spelled) {
  const Limit& limit = spelled.limit;
  const auto& written = numbers.rate || numbers.refill_rate ? numbers.rate : otherwise.rate;
  if (written) return {std::move(who), at, rate_text(written->value), written->value.count, limit};
  // Tokens per second have no period of their own: a second, or as long as one token takes.
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
                   "{} lets {} pass at once, more than {} times its rate of {} and more than {} of "
                   "it: lower the burst, or raise the rate",
                   tier.who, limit.capacity(), far, tier.rate, duration_text(long_time));
}

void warn_if_below_a_second(const TierNumbers& tier, Problems& problems) {
  const Limit& limit = tier.limit;
  if (limit.capacity() >= in_a_second(limit)) return;
  problems.warning(tier.at, rule::small_burst,
                   "{} has a burst of {}, less than one second of {} brings: who sends once a "
                   "second can never reach the rate; raise the burst to {} or more",
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
      all.push_back(tier_numbers(name + " for " + names[tier], place_of_burst(found->numbers, found->tier.at),
                                 found->numbers, written.numbers, spelled(subject.limit.live, tier)));
    } else if (!own_seen) {
      own_seen = true;
      all.push_back(tier_numbers(name, place_of_burst(written.numbers, written.at), written.numbers, written.numbers,
                                 spelled(subject.limit.live, tier)));
    }
  }
  return all;
}

Mark place_of_key(const LimitSpec& written) {
  return written.consumer_key ? written.consumer_key->at : written.at;
}

void ip_alone(const Subject& subject, Problems& problems) {
  const CompiledLimit& limit = subject.limit;
  if (!is_by_ip_alone(limit.consumer_key) || limit.when.kind == When::Kind::anonymous) return;
  if (limit.when.kind == When::Kind::authenticated) {
    problems.warning(place_of_key(subject.written), rule::ip_alone,
                     "'{}' counts by ip alone although it is known who is calling: all behind one address "
                     "share a counter; count by user",
                     limit.name);
    return;
  }
  const Informed other = informed(subject);
  if (other.limit == nullptr) return;
  problems.warning(place_of_key(subject.written), rule::ip_alone,
                   "'{}' counts by ip alone on {}, where '{}' knows who is calling: all behind one address "
                   "share a counter; add 'when: anonymous', or count by [user, ip]",
                   limit.name, other.route, other.limit->name);
}

void chosen_key(const Subject& subject, Problems& problems) {
  for (const std::vector<KeyPart>& parts : subject.limit.consumer_key.alternatives) {
    const KeyPart* part = chosen_part(parts, subject.ruleset.identity);
    if (part == nullptr) continue;
    if (part->kind == Kind::header) {
      if (!is_among(part->header, path_headers)) warn_of_header(subject, *part, problems);
    } else if (subject.limit.when.kind != When::Kind::authenticated && !is_bounded_elsewhere(subject, *part)) {
      warn_of_api_key(subject, problems);
    }
  }
}

void penalty_on_chosen_key(const Subject& subject, Problems& problems) {
  const CompiledLimit& limit = subject.limit;
  if (!limit.penalty || !subject.written.penalty) return;
  for (const std::vector<KeyPart>& parts : limit.consumer_key.alternatives) {
    const KeyPart* part = chosen_part(parts, subject.ruleset.identity);
    const bool is_shared = !contains(parts, Kind::user) && !contains(parts, Kind::ip);  // by several callers
    if (part == nullptr || !is_shared) continue;
    problems.warning(subject.written.penalty->at, rule::penalty_lockout,
                     "'{}' has a penalty on {}, which any client can send: who sends somebody else's locks "
                     "them out for {}; put the penalty on a limit by ip or user",
                     limit.name, text_of(*part), duration_text(limit.penalty->block));
    return;
  }
}

void raw_path(const Subject& subject, Problems& problems) {
  for (const std::vector<KeyPart>& parts : subject.limit.consumer_key.alternatives) {
    for (const KeyPart& part : parts) {
      if (part.kind != Kind::header || !is_among(part.header, path_headers)) continue;
      problems.warning(place_of_key(subject.written), rule::raw_path_key,
                       "'{}' counts by {}, a raw path: every id and every spelling in it has a counter of "
                       "its own; count by route, which is the template",
                       subject.limit.name, text_of(part));
    }
  }
}

void raw_path(const DescriptorSpec& descriptor, Problems& problems) {
  const bool is_limited = descriptor.rate_limit || !descriptor.descriptors.empty();
  if (!descriptor.value && is_limited && is_among(descriptor.key, path_keys)) {
    problems.warning(descriptor.at, rule::raw_path_key,
                     "descriptor '{}' has no value, so every raw path has a counter of its "
                     "own; give the paths as values, or send a route's name instead",
                     descriptor.key);
  }
  for (const DescriptorSpec& below : descriptor.descriptors) raw_path(below, problems);
}

void unlabelled(const DescriptorSpec& descriptor, Problems& problems) {
  if (descriptor.value_to_metric) {
    problems.warning(*descriptor.value_to_metric, rule::no_effect,
                     "value_to_metric of descriptor '{}' changes nothing: no value that a client can choose "
                     "becomes a label of a metric; give the values that matter as descriptors",
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
                     "'{}' is a fixed window on {}, which is written to: nearly twice the limit can pass "
                     "around the end of a window; use sliding_window_counter or token_bucket",
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
                       "'{}' has numbers for the tier '{}', but nothing says who has it: set "
                       "{}.from",
                       subject.limit.name, each.tier.value, subject.policy.names.tiers);
    }
  };
  warn(subject.written.tier_overrides);
  if (subject.written.candidate) warn(subject.written.candidate->tier_overrides);
}

void odd_burst(const Subject& subject, Problems& problems) {
  const PolicyAlgorithm algorithm = subject.limit.algorithm;
  // A leaky bucket is there to make an even stream: a small burst is its point.
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
                     "'{}' has {}, which does nothing in 'mode: shadow': nobody is denied; leave it out "
                     "until the limit is enforced",
                     subject.limit.name, what);
  };
  if (subject.written.warn_first) warn(subject.written.warn_first->at, "warn_first");
  if (subject.written.penalty) warn(subject.written.penalty->at, "a penalty");
}

}  // namespace weir::policy::lint_rules
