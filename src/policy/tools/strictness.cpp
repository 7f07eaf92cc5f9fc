#include "policy/tools/strictness.h"

#include <algorithm>

#include "core/arithmetic.h"
#include "core/calendar.h"

namespace weir::policy {
namespace {

using core::Wide;

bool is_bucket(const Limit& limit) noexcept {
  return limit.algorithm() < Algorithm::fixed_window;
}

bool is_queue(const Limit& limit) noexcept {
  return limit.algorithm() == Algorithm::leaky_bucket_queue;
}

bool is_log(const Limit& limit) noexcept {
  return limit.algorithm() == Algorithm::sliding_window_log;
}

// True for a fixed window or a counter, which admits at most the limit in each window that begins at a multiple of its
// length.
bool is_aligned(const Limit& limit) noexcept {
  return limit.algorithm() == Algorithm::fixed_window || limit.algorithm() == Algorithm::sliding_window_counter;
}

std::uint64_t length(const Limit& limit) noexcept {
  return static_cast<std::uint64_t>(limit.rate().per.count());
}

bool no_faster(Rate a, Rate b) noexcept {
  return Wide{a.count} * static_cast<std::uint64_t>(b.per.count()) <=
         Wide{b.count} * static_cast<std::uint64_t>(a.per.count());
}

// The maximum that `limit` admits in `instants` consecutive microseconds, in any state.
Wide max_within(const Limit& limit, Wide instants) noexcept {
  const Wide max_gap = instants - 1;  // the time between the first and the last instant
  if (is_bucket(limit)) return limit.capacity() + max_gap * limit.rate().count / length(limit);
  const Wide whole = length(limit);
  if (is_log(limit)) return limit.capacity() * ((instants + whole - 1) / whole);
  return limit.capacity() * ((max_gap + whole - 1) / whole + 1);  // windows that the instants can touch
}

// The maximum number of units by which `limit` can be ahead of its rate. A bucket with that capacity and the same rate
// admits everything that `limit` admits.
Wide max_ahead(const Limit& limit) noexcept {
  return is_aligned(limit) ? Wide{limit.capacity()} * 2 : Wide{limit.capacity()};
}

bool stricter_than_bucket(const Limit& a, const Limit& bucket) noexcept {
  return max_ahead(a) <= bucket.capacity() && no_faster(a.rate(), bucket.rate());
}

// A queue denies a caller that cannot wait, unless the queue is empty. So only other queues, and limits that admit
// single requests at intervals, are as strict.
bool stricter_than_queue(const Limit& a, const Limit& queue) noexcept {
  const bool one_at_a_time = a.capacity() == 1 && !is_aligned(a);
  return (is_queue(a) || one_at_a_time) && stricter_than_bucket(a, queue);
}

// An upper bound for the length of a window in any zone, where a day may occur twice.
Wide max_window(core::CalendarUnit unit) noexcept {
  const Duration longest = core::nominal_length(unit) + std::chrono::days{2};
  return static_cast<std::uint64_t>(longest.count());
}

// True if each window of `narrow` lies within one of `wide`.
bool is_within(const core::Calendar& narrow, const core::Calendar& wide) noexcept {
  using core::CalendarUnit;
  if (narrow.zone() != wide.zone()) return false;
  if (narrow.unit() == wide.unit() || narrow.unit() == CalendarUnit::day) return true;
  return narrow.unit() == CalendarUnit::month && wide.unit() == CalendarUnit::year;
}

bool stricter_by_calendar(const Limit& a, const Limit& b) noexcept {
  if (a.calendar() != nullptr) {
    return b.calendar() != nullptr && a.capacity() <= b.capacity() && is_within(*b.calendar(), *a.calendar());
  }
  return max_within(a, max_window(b.calendar()->unit())) <= b.capacity();
}

bool stricter_than_window(const Limit& a, const Limit& window) noexcept {
  const bool counter = window.algorithm() == Algorithm::sliding_window_counter;
  if (is_aligned(a) && a.capacity() <= window.capacity()) {
    // A shorter window lies within a longer one. A counter looks at two windows, so only an equal counter qualifies.
    const bool is_nested = window.algorithm() == Algorithm::fixed_window && length(a) % length(window) == 0;
    const bool is_same = counter && a.algorithm() == window.algorithm() && length(a) == length(window);
    if (is_nested || is_same) return true;
  }
  const Wide looked_at = Wide{length(window)} * (counter ? 2U : 1U);
  return max_within(a, looked_at) <= window.capacity();
}

bool holds(const Limit& limit) noexcept {
  return limit.algorithm() == Algorithm::concurrency;
}

// A number of concurrent requests cannot be compared with a number per time, so both limits must be concurrency limits.
bool stricter_by_holds(const Limit& a, const Limit& b) noexcept {
  return a.capacity() <= b.capacity() && length(a) >= length(b);
}

bool is_present(const KeyPart& part, Caller caller) noexcept {
  if (part.kind == KeyPart::Kind::user) return caller.user;
  if (part.kind == KeyPart::Kind::api_key) return caller.api_key;
  return part.kind != KeyPart::Kind::header && part.kind != KeyPart::Kind::identity;
}

bool within(const AddressRange& narrow, const AddressRange& wide) noexcept {
  return narrow.prefix >= wide.prefix && wide.contains(narrow.network);
}

bool all_within(const std::vector<AddressRange>& narrow, const std::vector<AddressRange>& wide) noexcept {
  return std::ranges::all_of(narrow, [&](const AddressRange& each) {
    return std::ranges::any_of(wide, [&](const AddressRange& other) { return within(each, other); });
  });
}

// True if every part of `few` that distinguishes consumers is among `many`.
bool is_subset(const std::vector<KeyPart>& few, const std::vector<KeyPart>& many) {
  return std::ranges::all_of(few, [&](const KeyPart& part) {
    return part.kind == KeyPart::Kind::global || std::ranges::find(many, part) != many.end();
  });
}

}  // namespace

bool at_least_as_strict(const Limit& a, const Limit& b) noexcept {
  if (holds(a) || holds(b)) return holds(a) && holds(b) && stricter_by_holds(a, b);
  if (a.calendar() != nullptr || b.calendar() != nullptr) return stricter_by_calendar(a, b);
  if (is_queue(b)) return stricter_than_queue(a, b);
  if (is_bucket(b)) return stricter_than_bucket(a, b);
  return stricter_than_window(a, b);
}

Terms terms_of(const TieredLimit& limits, std::size_t tier) {
  if (limits.bans(tier)) return {.numbers = {}, .banned = true};
  return {.numbers = tier < limits.by_tier.size() ? limits.by_tier[tier] : std::nullopt};
}

bool at_least_as_strict(const Terms& a, const Terms& b) noexcept {
  if (a.banned || b.banned) return a.banned;
  if (!b.numbers) return true;
  return a.numbers && at_least_as_strict(*a.numbers, *b.numbers);
}

bool is_authenticated(Caller caller, const Identity& identity) noexcept {
  return caller.user || (caller.api_key && identity.api_key_verified);
}

bool is_always_there(const KeyPart& part) noexcept {
  return is_present(part, Caller{});
}

bool is_never_missing(const ConsumerKey& key) noexcept {
  return key_of(Caller{}, key) != nullptr;
}

bool has_part(const ConsumerKey& key, KeyPart::Kind kind) noexcept {
  return std::ranges::any_of(key.alternatives, [&](const std::vector<KeyPart>& parts) {
    return std::ranges::any_of(parts, [&](const KeyPart& part) { return part.kind == kind; });
  });
}

const std::vector<KeyPart>* key_of(Caller caller, const ConsumerKey& key) noexcept {
  const auto found = std::ranges::find_if(key.alternatives, [&](const std::vector<KeyPart>& parts) {
    return std::ranges::all_of(parts, [&](const KeyPart& part) { return is_present(part, caller); });
  });
  return found == key.alternatives.end() ? nullptr : &*found;
}

bool covers_route(const std::vector<RouteTemplate>& routes, const RouteTemplate& route) noexcept {
  return routes.empty() || std::ranges::any_of(routes, [&](const RouteTemplate& wide) { return covers(wide, route); });
}

bool covers_routes(const std::vector<RouteTemplate>& wide, const std::vector<RouteTemplate>& narrow) {
  if (narrow.empty()) return covers_route(wide, RouteTemplate{.method = {}, .segments = {}, .trailing_wildcard = true});
  return std::ranges::all_of(narrow, [&](const RouteTemplate& route) { return covers_route(wide, route); });
}

bool includes(const When& a, const When& b) {
  using Kind = When::Kind;
  if (a.kind == Kind::always || a == b) return true;
  // Each of these is sufficient; a condition is split on the side where the parts lose nothing first.
  if (b.kind == Kind::any)
    return std::ranges::all_of(b.conditions, [&](const When& each) { return includes(a, each); });
  if (a.kind == Kind::all)
    return std::ranges::all_of(a.conditions, [&](const When& each) { return includes(each, b); });
  if (a.kind == Kind::any && std::ranges::any_of(a.conditions, [&](const When& each) { return includes(each, b); }))
    return true;
  if (b.kind == Kind::all)
    return std::ranges::any_of(b.conditions, [&](const When& each) { return includes(a, each); });
  if (a.kind == Kind::identified_by && b.kind == Kind::identity_in) return a.identity == b.identity;
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Kind::ip_in:
      return all_within(b.ranges, a.ranges);
    case Kind::ip_not_in:
      return all_within(a.ranges, b.ranges);
    case Kind::identity_in:
      return a.identity == b.identity && std::ranges::includes(a.values, b.values);
    case Kind::negation:
      return includes(b.conditions.front(), a.conditions.front());
    default:
      return false;
  }
}

bool requires_kind(const When& when, When::Kind kind) noexcept {
  if (when.kind != When::Kind::all) return when.kind == kind;
  return std::ranges::any_of(when.conditions, [&](const When& each) { return requires_kind(each, kind); });
}

bool at_least_as_coarse(Consumers a, Consumers b) {
  const bool b_denies_missing = b.missing == Missing::deny && !is_never_missing(b.key);
  if (a.key == b.key) return a.missing >= b.missing || is_never_missing(a.key);
  if (a.key.alternatives.size() != 1) return false;
  const std::vector<KeyPart>& parts = a.key.alternatives.front();
  if (is_subset(parts, {})) return !b_denies_missing;  // a global counter
  if (b.key.alternatives.size() != 1 || !is_subset(parts, b.key.alternatives.front())) return false;
  return b.missing == Missing::skip || is_never_missing(b.key);
}

}  // namespace weir::policy
