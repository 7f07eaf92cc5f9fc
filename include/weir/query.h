// What a policy is asked about: a request, a limit by its name, or the descriptors of Envoy's rate limit service. Views
// only: what they point to stays until the call returns.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "weir/cost.h"
#include "weir/header.h"
#include "weir/time.h"

namespace weir {

// A request: Engine::evaluate.
struct Query {
  std::string_view method = "GET";
  std::string_view path = "/";  // as it was sent, with its query string or without

  // The address of whoever sent the request: of the connection, not of a header. 192.0.2.7:51234 and
  // [2001:db8::7]:443 are the addresses in them. If the policy trusts it as a proxy, its headers say who called it.
  // Empty: not known. All requests with a text that is not an address are one consumer, `ip=unreadable`.
  std::string_view ip{};
  std::span<const Header> headers{};

  // What the program knows by itself. It is believed, and the headers are not asked. Empty: nothing.
  std::string_view user{};
  std::string_view api_key{};
  std::string_view tier{};
  std::optional<Cost> cost{};  // where the policy writes none

  // How long the caller can wait for a turn (leaky bucket with a queue). An admitted caller waits for Verdict::delay; a
  // caller that cannot wait writes zero.
  Duration max_wait = Duration::max();
  bool peek = false;             // only look, charge nothing
  bool wants_more_after = true;  // Decision::more_after, which `t` of the RateLimit field needs
};

// One limit by its name and one consumer in words, without a request: Engine::evaluate_limit. The limit's routes and
// conditions are not asked.
struct LimitQuery {
  std::string_view limit;

  // `user=alice`, `ip=2001:db8::1 + route=POST /login`, `global`; where the limit has a key of one part, its value
  // alone
  // (`alice`). A name that a client chose goes behind the name of its part: `user=...`.
  std::string_view consumer{};
  std::string_view tier{};     // empty: the default
  std::optional<Cost> cost{};  // where the policy writes none
  Duration max_wait = Duration::max();
  bool peek = false;
};

struct DescriptorEntry {
  std::string_view key;
  std::string_view value;
};

// One descriptor of a request, for a policy in the format of envoyproxy/ratelimit: Engine::evaluate_descriptors.
struct Descriptor {
  std::span<const DescriptorEntry> entries;
  Cost hits{1};
};

}  // namespace weir
