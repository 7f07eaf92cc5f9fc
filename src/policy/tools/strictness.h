// Compares the strictness of two limits statically, by their numbers (exactly, in integers, for any pair of algorithms)
// and by the requests that they cover. True is certain; false may also mean unknown.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "policy/ruleset.h"
#include "weir/limit.h"

namespace weir::policy {

// True if `b` fully admits every sequence of requests that `a` fully admits. Then `b` never denies what `a` admits, if
// both evaluate the same requests together. False for most pairs with a sliding window counter, where only a simulation
// could tell.
[[nodiscard]] bool at_least_as_strict(const Limit& a, const Limit& b) noexcept;

// The terms of a tier: numbers, a ban, or no limit.
struct Terms {
  std::optional<Limit> numbers;
  bool banned = false;

  friend bool operator==(const Terms&, const Terms&) = default;
};

[[nodiscard]] Terms terms_of(const TieredLimit& limits, std::size_t tier);

[[nodiscard]] bool at_least_as_strict(const Terms& a, const Terms& b) noexcept;

// A kind of caller. It is assumed to have no header and no named identity that a limit is keyed by, since a client can
// always omit them.
struct Caller {
  bool user = false;     // identified by a trusted source
  bool api_key = false;  // sends an API key, verified or not
};

[[nodiscard]] bool is_authenticated(Caller caller, const Identity& identity) noexcept;

// True if every request has the part.
[[nodiscard]] bool is_always_there(const KeyPart& part) noexcept;
[[nodiscard]] bool is_never_missing(const ConsumerKey& key) noexcept;
[[nodiscard]] bool has_part(const ConsumerKey& key, KeyPart::Kind kind) noexcept;

// Returns the alternative that is the caller's key; nullptr if it has none.
[[nodiscard]] const std::vector<KeyPart>* key_of(Caller caller, const ConsumerKey& key) noexcept;

// True if one of `routes` covers `route`. An empty list covers everything.
[[nodiscard]] bool covers_route(const std::vector<RouteTemplate>& routes, const RouteTemplate& route) noexcept;
[[nodiscard]] bool covers_routes(const std::vector<RouteTemplate>& wide, const std::vector<RouteTemplate>& narrow);

// True if `a` holds for every request for which `b` holds.
[[nodiscard]] bool includes(const When& a, const When& b);

// True if `when` holds only where a condition of this kind holds: it is one, or has one among its `all`.
[[nodiscard]] bool requires_kind(const When& when, When::Kind kind) noexcept;

struct Consumers {
  const ConsumerKey& key;
  Missing missing;
};

// True if `a` counts, or denies for lack of a key, every request that `b` counts or denies for that reason, and
// requests that share a counter in `b` share one in `a`.
[[nodiscard]] bool at_least_as_coarse(Consumers a, Consumers b);

}  // namespace weir::policy
