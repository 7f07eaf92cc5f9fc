// Who is calling: the identity that a query has, after asking whom to believe.
//
// What lifts or moves a limit (user, tier, cost, forwarded address) is believed from the asking program and from
// trusted proxies, and from nobody else. An identity header that is empty or there more than once counts as absent.
// Forwarded addresses are read from the right: each trusted proxy vouches for the one before it. Where
// X-Forwarded-For and Forwarded name different clients one of them is forged, and what a trusted proxy passes on may be
// no address at all: then the client's address is unknown. The consumer is the proxy's own address, and conditions on
// the address hold, `ip_in` and `ip_not_in` alike: no header that a client makes up lifts a limit.
//
// A query whose own `ip` is not an address is not one without: all such queries are one consumer, `ip=unreadable`, or
// denied by a limit with `missing: deny`. Protocols in which a program asks reject it before.
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
  bool address_known = false;       // false: contradicted, unreadable or not given; `address` may be the proxy's then
  bool address_unreadable = false;  // the query's `ip` is not an address; `address` is not set
  std::string_view user;            // empty: none
  std::string_view api_key;         // empty: none
  std::uint32_t tier = 0;           // of Tiers::names
  bool trusted = false;             // whoever sent the headers
  bool authenticated = false;
  bool ignored_headers = false;  // it claimed what only a trusted proxy may say
  bool unknown_tier = false;
};

[[nodiscard]] Caller identify(const policy::Ruleset& ruleset, const Query& query) noexcept;

// Whether there is a header of that name, which is in lower case.
[[nodiscard]] bool has_header(const Query& query, std::string_view name) noexcept;

// The value of a header that is there once and not empty; empty otherwise.
[[nodiscard]] std::string_view sole_header(const Query& query, std::string_view name) noexcept;

// Who the headers of a trusted proxy say that it speaks for. Not known if they contradict each other or cannot be read:
// then it is the last proxy that can be told.
struct ForwardedClient {
  policy::Address address;
  bool known = true;

  friend bool operator==(const ForwardedClient&, const ForwardedClient&) = default;
};
[[nodiscard]] ForwardedClient forwarded_client(const policy::Identity& identity, const Query& query,
                                               const policy::Address& peer) noexcept;

}  // namespace weir::match
