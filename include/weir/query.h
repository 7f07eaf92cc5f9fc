// SPDX-License-Identifier: Apache-2.0
// Input to a policy evaluation: a request, a limit by name, or descriptors of Envoy's rate limit service. These are
// views: what they refer to must stay valid until the call returns.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "weir/cost.h"
#include "weir/header.h"
#include "weir/time.h"

namespace weir {

// A request, for Engine::evaluate.
struct Query {
  std::string_view method = "GET";
  std::string_view path = "/";  // as received, with or without the query string

  // The peer address of the connection, not an address from a header. 192.0.2.7:51234 and [2001:db8::7]:443 are
  // accepted; the port is ignored. If the policy trusts this address as a proxy, the client address is taken from the
  // headers. Empty: unknown. All requests with an invalid address are one consumer, `ip=unreadable`.
  std::string_view ip{};
  std::span<const Header> headers{};

  // Identity that the program has verified itself. It is trusted and takes precedence over headers. Empty: unknown.
  std::string_view user{};
  std::string_view api_key{};
  std::string_view tier{};
  std::optional<Cost> cost{};  // used where the policy sets no cost

  // How long the caller can wait for its turn (leaky bucket with a queue). An admitted caller must wait for
  // Verdict::delay; a caller that cannot wait sets zero.
  Duration max_wait = Duration::max();
  bool peek = false;             // only look, charge nothing
  bool wants_more_after = true;  // fill Decision::more_after, which `t` of the RateLimit field needs
};

// One limit by name and one consumer in text form, without a request, for Engine::evaluate_limit. The limit's routes
// and conditions are ignored.
struct LimitQuery {
  std::string_view limit;

  // `user=alice`, `ip=2001:db8::1 + route=POST /login`, `global`. For a key of one part the value alone is enough
  // (`alice`), but a client-chosen name must be prefixed with the part's name: `user=...`.
  std::string_view consumer{};
  std::string_view tier{};     // empty: the default tier
  std::optional<Cost> cost{};  // used where the policy sets no cost
  Duration max_wait = Duration::max();
  bool peek = false;
};

struct DescriptorEntry {
  std::string_view key;
  std::string_view value;
};

// One descriptor of a request, for a policy in the envoyproxy/ratelimit format: Engine::evaluate_descriptors.
struct Descriptor {
  std::span<const DescriptorEntry> entries;
  Cost hits{1};
};

}  // namespace weir
