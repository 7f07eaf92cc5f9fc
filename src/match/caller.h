// Determines the identity of a caller, and which of its claims are trusted.
//
// User, verified identities, tier, cost and forwarded address are accepted only from the querying program and from
// trusted proxies. An identity header that is empty or duplicated counts as absent. Forwarded addresses are read from
// the right: each trusted proxy vouches for the address before it. If X-Forwarded-For and Forwarded name different
// clients, or a trusted proxy passes on an invalid address, the client's address is unknown. The consumer is then the
// proxy's own address, and both `ip_in` and `ip_not_in` hold, so that no forged header lifts a limit.
//
// All queries whose `ip` is not an address are one consumer, `ip=unreadable`, or denied by a limit with `missing:
// deny`. Protocols in which a program passes `ip` reject such a query earlier.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "policy/ruleset.h"
#include "text/address.h"
#include "weir/query.h"

namespace weir::match {

struct Caller {
  std::optional<policy::Address> address;
  bool address_known = false;       // false if contradicted, invalid or absent; `address` may then be the proxy's
  bool address_unreadable = false;  // the query's `ip` is not an address; `address` is unset
  std::string_view user;            // empty: none
  std::string_view api_key;         // empty: none
  std::uint32_t tier = 0;           // index in Tiers::names
  bool trusted = false;             // the headers come from a trusted proxy
  bool authenticated = false;
  bool ignored_headers = false;  // the caller is untrusted and sent headers that are read from trusted proxies only
  bool unknown_tier = false;
};

// The value of one identity of a request. Empty: the request does not have it.
struct IdentityValue {
  std::string_view text;
  bool is_ambiguous = false;  // the header is duplicated or empty: `text` is empty, and the value may be any or none
};

// Looks up `user`, `api_key` or a named identity of the policy. A verified identity is read from trusted proxies only;
// a name that the policy does not define has no value. Overrides, blocks and conditions must use this lookup.
[[nodiscard]] IdentityValue identity_of(const policy::Identity& identity, const Caller& caller, const Query& query,
                                        std::string_view name) noexcept;

[[nodiscard]] Caller identify(const policy::Ruleset& ruleset, const Query& query) noexcept;

// True if the query has a header of this lower-case name.
[[nodiscard]] bool has_header(const Query& query, std::string_view name) noexcept;

// Returns the value of a header; empty if it is absent or duplicated.
[[nodiscard]] std::string_view sole_header(const Query& query, std::string_view name) noexcept;

// The client that a trusted proxy forwards for. If the headers contradict each other or are invalid, `known` is false
// and `address` is that of the last identifiable proxy.
struct ForwardedClient {
  policy::Address address;
  bool known = true;

  friend bool operator==(const ForwardedClient&, const ForwardedClient&) = default;
};
[[nodiscard]] ForwardedClient forwarded_client(const policy::Identity& identity, const Query& query,
                                               const policy::Address& peer) noexcept;

}  // namespace weir::match
