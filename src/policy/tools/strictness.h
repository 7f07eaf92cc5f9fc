// Which of two limits is the stricter one, without a request at hand: by their numbers (exactly, in integers, for any
// pair of algorithms) and by whom they cover. Each yes is certain; a no may also mean that it is not known.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "policy/ruleset.h"
#include "weir/limit.h"

namespace weir::policy {

// Whether every course of requests that `a` admits whole is admitted whole by `b` too; then, where both evaluate the
// same requests together, `b` never denies what `a` admits. Between a
// sliding window counter and most others only a simulation could tell: that is a no.
[[nodiscard]] bool at_least_as_strict(const Limit& a, const Limit& b) noexcept;

// What a tier gets: as much as its numbers say, nothing (banned), or without numbers everything.
struct Terms {
  std::optional<Limit> numbers;
  bool banned = false;

  friend bool operator==(const Terms&, const Terms&) = default;
};

[[nodiscard]] Terms terms_of(const TieredLimit& limits, std::size_t tier);

[[nodiscard]] bool at_least_as_strict(const Terms& a, const Terms& b) noexcept;

// A caller as a limit may see it. It sends no header that a limit counts by: nobody has to.
struct Caller {
  bool user = false;     // a believed one
  bool api_key = false;  // any
};

[[nodiscard]] bool is_authenticated(Caller caller, const Identity& identity) noexcept;

// Parts that every request has.
[[nodiscard]] bool is_always_there(const KeyPart& part) noexcept;
[[nodiscard]] bool is_never_missing(const ConsumerKey& key) noexcept;
[[nodiscard]] bool has_part(const ConsumerKey& key, KeyPart::Kind kind) noexcept;

// The alternative that is the caller's key; nullptr if it has none.
[[nodiscard]] const std::vector<KeyPart>* key_of(Caller caller, const ConsumerKey& key) noexcept;

// Whether one of `routes` covers `route`; no routes cover everything.
[[nodiscard]] bool covers_route(const std::vector<RouteTemplate>& routes, const RouteTemplate& route) noexcept;
[[nodiscard]] bool covers_routes(const std::vector<RouteTemplate>& wide, const std::vector<RouteTemplate>& narrow);

// Whether `a` holds for every request for which `b` holds.
[[nodiscard]] bool includes(const When& a, const When& b);

struct Consumers {
  const ConsumerKey& key;
  Missing missing;
};

// Whether each request that `b` counts or denies for want of a key, `a` does too, and requests that share a counter
// in `b` share one in `a`.
[[nodiscard]] bool at_least_as_coarse(Consumers a, Consumers b);

}  // namespace weir::policy
