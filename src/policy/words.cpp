#include "policy/words.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include <fmt/core.h>

#include "core/arithmetic.h"
#include "policy/calendar.h"
#include "policy/tools/strictness.h"
#include "policy/vocabulary.h"

namespace weir::policy {
namespace {

using core::Wide;

struct Unit {
  Duration length;
  std::string_view per;     // the unit in `10/min`
  std::string_view number;  // the unit in `5 min`
};

using namespace std::chrono_literals;

constexpr std::array<Unit, 6> units{{{std::chrono::days{1}, "day", "days"},
                                     {1h, "h", "h"},
                                     {1min, "min", "min"},
                                     {1s, "s", "s"},
                                     {1ms, "ms", "ms"},
                                     {1us, "us", "us"}}};

constexpr std::array<Unit, 4> rate_units{units[3], units[2], units[1], units[0]};

bool keeps_rate(const Limit& limit) noexcept {
  return limit.algorithm() < Algorithm::fixed_window;
}

// The count per unit of time, if that is a whole number.
std::optional<std::uint64_t> count_in(Rate rate, const Unit& unit) noexcept {
  const Wide product = Wide{rate.count} * static_cast<std::uint64_t>(unit.length.count());
  const auto per = static_cast<std::uint64_t>(rate.per.count());
  if (per == 0 || product % per != 0) return {};
  const Wide count = product / per;
  if (count > ~std::uint64_t{0}) return {};
  return static_cast<std::uint64_t>(count);
}

std::string bucket_rate_text(Rate rate) {
  for (const Unit& unit : rate_units) {
    if (const auto count = count_in(rate, unit)) return fmt::format("{}/{}", *count, unit.per);
  }
  return rate_text(rate);
}

Texts bucket_rate_texts(Rate before, Rate after) {
  for (const Unit& unit : rate_units) {
    const auto was = count_in(before, unit);
    const auto is = count_in(after, unit);
    if (was && is) return {fmt::format("{}/{}", *was, unit.per), fmt::format("{}/{}", *is, unit.per)};
  }
  return {bucket_rate_text(before), bucket_rate_text(after)};
}

// Truncates the rate to millionths, the precision of the policy language.
std::string per_second_text(Rate rate) {
  constexpr std::uint64_t million = 1'000'000;
  const auto seconds = static_cast<std::uint64_t>(rate.per / std::chrono::seconds{1});
  const Wide millionths = Wide{rate.count} * million / std::max<std::uint64_t>(seconds, 1);
  std::string text = fmt::format("{}", static_cast<std::uint64_t>(millionths / million));
  if (const auto places = static_cast<std::uint64_t>(millionths % million); places != 0) {
    text += fmt::format(".{:06}", places);
    while (text.ends_with('0')) text.pop_back();
  }
  return text + "/s";
}

bool is_concurrency(const Limit& limit) noexcept {
  return limit.algorithm() == Algorithm::concurrency;
}

std::string at_once_text(const Limit& limit) {
  return fmt::format("at most {} at once", limit.capacity());
}

// Leases of up to two minutes are formatted in seconds, as usual.
std::string lease_text(const Limit& limit) {
  const Duration lease = limit.rate().per;
  const bool in_seconds = lease <= 2min && lease % 1s == Duration::zero();
  return "each for at most " + (in_seconds ? fmt::format("{} s", lease / 1s) : duration_text(lease));
}

// Formats the second number of a bucket: its burst or its queue.
std::string capacity_text(const Limit& limit) {
  if (limit.algorithm() == Algorithm::leaky_bucket_queue) return fmt::format("queue {}", limit.capacity() - 1);
  return fmt::format("burst {}", limit.capacity());
}

template <std::size_t N, class Enum>
std::string_view word(const std::array<std::string_view, N>& words, Enum value) noexcept {
  const auto index = static_cast<std::size_t>(value);
  return index < N ? words[index] : "unknown";
}

template <class Range, class Text>
std::string joined(const Range& range, std::string_view separator, Text text) {
  std::string all;
  for (const auto& each : range) {
    if (&each != &range.front()) all += separator;
    all += text(each);
  }
  return all;
}

std::string tiers_text(const CompiledLimit& limit, const Tiers& tiers) {
  std::string text;
  for (std::size_t tier = 1; tier < limit.live.by_tier.size(); ++tier) {
    if (terms_of(limit.live, tier) == terms_of(limit.live, 0)) continue;
    text += fmt::format("; {} {}", tiers.names[tier], numbers_text(limit.live, tier));
  }
  return text;
}

// Describes a limit without its routes.
std::string terms_text(const CompiledLimit& limit, const Tiers& tiers) {
  std::string text = limit.live.bans(0) ? std::string(banned_text)
                                        : fmt::format("{} {}", name_of(limit.algorithm), numbers_text(limit.live, 0));
  if (!limit.by_descriptor()) text += " by " + text_of(limit.consumer_key);
  if (!limit.except.empty()) text += " except " + routes_text(limit.except);
  if (limit.when.kind != When::Kind::always) text += " when " + text_of(limit.when);
  if (limit.mode == Mode::shadow) text += ", in shadow";
  text += tiers_text(limit, tiers);
  if (limit.candidate) {
    text += fmt::format("; candidate {} {}", name_of(limit.candidate_algorithm.value_or(limit.algorithm)),
                        numbers_text(*limit.candidate, 0));
  }
  return text;
}

}  // namespace

std::string duration_text(Duration duration) {
  for (const Unit& unit : units) {
    if (duration.count() % unit.length.count() != 0) continue;
    const auto count = duration / unit.length;
    return fmt::format("{} {}", count, count == 1 ? unit.per : unit.number);
  }
  return {};
}

std::string rate_text(Rate rate) {
  const auto* unit =
      std::ranges::find_if(rate_units, [&](const Unit& candidate) { return candidate.length == rate.per; });
  if (unit != rate_units.end()) return fmt::format("{}/{}", rate.count, unit->per);
  return fmt::format("{} per {}", rate.count, duration_text(rate.per));
}

std::string rate_text(const WrittenRate& written) {
  if (written.per_week) return fmt::format("{}/week", written.rate.count);
  return written.per_second ? per_second_text(written.rate) : rate_text(written.rate);
}

std::string rate_text(const Limit& limit) {
  if (const core::Calendar* calendar = limit.calendar()) {
    const std::string in_zone = calendar->zone() == utc ? "" : " in " + calendar->zone();
    return fmt::format("{}/{}{}", limit.capacity(), name_of(calendar->unit()), in_zone);
  }
  if (is_concurrency(limit)) return at_once_text(limit);
  return keeps_rate(limit) ? bucket_rate_text(limit.rate()) : rate_text(limit.rate());
}

std::string numbers_text(const Limit& limit) {
  return numbers_text(Spelled{limit, {}});
}

std::string rate_text(const Spelled& spelled) {
  return spelled.rate ? rate_text(*spelled.rate) : rate_text(spelled.limit);
}

std::string numbers_text(const Spelled& spelled) {
  const Limit& limit = spelled.limit;
  if (is_concurrency(limit)) return at_once_text(limit) + ", " + lease_text(limit);
  return keeps_rate(limit) ? rate_text(spelled) + ", " + capacity_text(limit) : rate_text(spelled);
}

std::string numbers_text(const TieredLimit& limits, std::size_t tier) {
  if (limits.bans(tier)) return "banned";
  if (tier >= limits.by_tier.size() || !limits.by_tier[tier]) return "unlimited";
  return numbers_text(spelled(limits, tier));
}

Spelled spelled(const TieredLimit& limits, std::size_t tier) {
  return {*limits.by_tier[tier], tier < limits.rates.size() ? limits.rates[tier] : std::nullopt};
}

Texts numbers_texts(const Spelled& before, const Spelled& after) {
  const Limit& was = before.limit;
  const Limit& is = after.limit;
  if (is_concurrency(was) && is_concurrency(is)) {
    if (was.rate().per == is.rate().per) return {at_once_text(was), at_once_text(is)};
    if (was.capacity() == is.capacity()) return {lease_text(was), lease_text(is)};
  }
  if (!keeps_rate(was) || !keeps_rate(is)) return {numbers_text(before), numbers_text(after)};
  if (was.rate() == is.rate() && was.capacity() != is.capacity()) return {capacity_text(was), capacity_text(is)};
  Texts rates = bucket_rate_texts(was.rate(), is.rate());
  if (before.rate && after.rate) rates = {rate_text(*before.rate), rate_text(*after.rate)};
  if (was.capacity() == is.capacity()) return rates;
  return {rates.before + ", " + capacity_text(was), rates.after + ", " + capacity_text(is)};
}

std::string routes_text(const std::vector<RouteTemplate>& routes) {
  if (routes.empty()) return "every request";
  std::vector<std::string> texts;
  texts.reserve(routes.size());
  for (const RouteTemplate& route : routes) texts.push_back(route.text());
  return list_text(texts);
}

std::string limit_text(const CompiledLimit& limit) {
  std::string text = fmt::format("{} by {} on {}", numbers_text(limit.live, 0), text_of(limit.consumer_key),
                                 routes_text(limit.routes));
  if (!limit.except.empty()) text += " except " + routes_text(limit.except);
  if (limit.when.kind != When::Kind::always) text += " when " + text_of(limit.when);
  return text;
}

std::string list_text(const std::vector<std::string>& items) {
  constexpr std::size_t shown = 3;
  std::string text;
  // `and 1 more` would be no shorter than the last item.
  const std::size_t count = items.size() <= shown + 1 ? items.size() : shown;
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) text += i + 1 == items.size() ? " and " : ", ";
    text += items[i];
  }
  if (count < items.size()) text += fmt::format(" and {} more", items.size() - count);
  return text;
}

std::string_view name_of(PolicyAlgorithm algorithm) noexcept {
  static constexpr std::array<std::string_view, 7> words{
      "token_bucket",           "gcra",       "leaky_bucket", "fixed_window", "sliding_window_log",
      "sliding_window_counter", "concurrency"};
  return word(words, algorithm);
}

std::string_view name_of(Missing missing) noexcept {
  static constexpr std::array<std::string_view, 3> words{"skip", "share", "deny"};
  return word(words, missing);
}

std::string_view name_of(Mode mode) noexcept {
  static constexpr std::array<std::string_view, 2> words{"enforce", "shadow"};
  return word(words, mode);
}

std::string_view name_of(OnStoreFailure choice) noexcept {
  static constexpr std::array<std::string_view, 3> words{"local", "open", "closed"};
  return word(words, choice);
}

std::string_view name_of(Consistency consistency) noexcept {
  static constexpr std::array<std::string_view, 3> words{"exact", "leased", "approximate"};
  return word(words, consistency);
}

std::string_view name_of(Usage usage) noexcept {
  static constexpr std::array<std::string_view, 2> words{"reported", "reserved"};
  return word(words, usage);
}

std::string_view name_of(KeyPart::Kind kind) noexcept {
  static constexpr std::array<std::string_view, 7> words{"user", "api_key", "ip", "global", "route", "header:", ""};
  return word(words, kind);
}

std::string text_of(const KeyPart& part) {
  return std::string(name_of(part.kind)) + part.name;
}

std::string text_of(const ConsumerKey& key) {
  const auto together = [](const std::vector<KeyPart>& parts) {
    return joined(parts, "+", [](const KeyPart& part) { return text_of(part); });
  };
  std::string text = joined(key.alternatives, ", ", together);
  return key.alternatives.size() == 1 ? text : "[" + text + "]";
}

std::string text_of(const When& when) {
  using Kind = When::Kind;
  static constexpr std::array<std::string_view, 10> words{
      "always",        "authenticated", "anonymous", "ip_in", "ip_not_in",
      "identified_by", "identity_in",   "all",       "any",   "not"};
  const std::string_view kind = word(words, when.kind);
  const auto as_text = [](const When& each) { return text_of(each); };
  switch (when.kind) {
    case Kind::always:
    case Kind::authenticated:
    case Kind::anonymous:
      return std::string(kind);
    case Kind::ip_in:
    case Kind::ip_not_in:
      return fmt::format("{{ {}: [{}] }}", kind,
                         joined(when.ranges, ", ", [](const auto& range) { return range.text(); }));
    case Kind::identified_by:
      return fmt::format("{{ {}: {} }}", kind, when.identity);
    case Kind::identity_in:
      return fmt::format("{{ {}: {{ {}: [{}] }} }}", kind, when.identity,
                         joined(when.values, ", ", [](const std::string& value) { return value; }));
    case Kind::all:
    case Kind::any:
      return fmt::format("{{ {}: [{}] }}", kind, joined(when.conditions, ", ", as_text));
    case Kind::negation:
      return fmt::format("{{ {}: {} }}", kind, text_of(when.conditions.front()));
  }
  return std::string(kind);
}

When negated(When when) {
  using Kind = When::Kind;
  switch (when.kind) {
    case Kind::authenticated:
      return {.kind = Kind::anonymous};
    case Kind::anonymous:
      return {.kind = Kind::authenticated};
    case Kind::ip_in:
    case Kind::ip_not_in:
      when.kind = when.kind == Kind::ip_in ? Kind::ip_not_in : Kind::ip_in;
      return when;
    case Kind::all:
    case Kind::any:
      when.kind = when.kind == Kind::all ? Kind::any : Kind::all;
      for (When& each : when.conditions) each = negated(std::move(each));
      return when;
    case Kind::negation:
      return std::move(when.conditions.front());
    case Kind::always:
    case Kind::identified_by:
    case Kind::identity_in:
      break;
  }
  When outer{.kind = Kind::negation};
  outer.conditions.push_back(std::move(when));
  return outer;
}

Identity Identity::defaults() {
  Identity identity;
  Address loopback;
  loopback.bytes[0] = 127;
  identity.trusted_proxies.push_back({loopback, 8});
  Address loopback6{.family = Address::Family::v6};
  loopback6.bytes[15] = 1;
  identity.trusted_proxies.push_back({loopback6, 128});
  return identity;
}

const NamedIdentity* Identity::find(std::string_view name) const noexcept {
  const auto found = std::ranges::find(named, name, &NamedIdentity::name);
  return found == named.end() ? nullptr : &*found;
}

bool Identity::has(std::string_view name) const noexcept {
  return name == name_of(KeyPart::Kind::user) || name == name_of(KeyPart::Kind::api_key) || find(name) != nullptr;
}

bool Identity::is_verified(std::string_view name) const noexcept {
  if (name == name_of(KeyPart::Kind::user)) return true;
  if (name == name_of(KeyPart::Kind::api_key)) return api_key_verified;
  const NamedIdentity* const found = find(name);
  return found != nullptr && found->verified;
}

std::vector<std::string> ruleset_lines(const Ruleset& ruleset) {
  std::vector<std::string> lines;
  for (const CompiledLimit& limit : ruleset.limits) {
    const std::string terms = terms_text(limit, ruleset.tiers);
    const std::string elsewhere = limit.by_descriptor() ? "domain " + limit.domain : "every request";
    if (limit.routes.empty()) lines.push_back(fmt::format("{}: {}: {}", limit.name, elsewhere, terms));
    for (const RouteTemplate& route : limit.routes) {
      lines.push_back(fmt::format("{}: {}: {}", limit.name, route.text(), terms));
    }
  }
  return lines;
}

}  // namespace weir::policy
