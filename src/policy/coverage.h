// What can be said about who is covered by a limit without a request at hand: for lint and diff.
// Each yes is certain; a no may also mean that it is not known.
#pragma once

#include <vector>

#include "policy/ruleset.h"
#include "policy/vocabulary.h"

namespace weir::policy {

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

// Whether some request matches both.
[[nodiscard]] bool overlap(const RouteTemplate& a, const RouteTemplate& b) noexcept;

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
