// Who is calling: the identity that a query has, after asking whom to believe.
//
// What lifts or moves a limit (user, tier, cost, forwarded address) is believed from the asking program and from
// trusted proxies, and from nobody else. An identity header that is empty or there more than once counts as absent.
// Forwarded addresses are read from the right: each trusted proxy vouches for the one before it. Where
// X-Forwarded-For and Forwarded name different clients, one of them is forged, and the proxy's own address counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/query.h"
#include "policy/address.h"
#include "policy/ruleset.h"

namespace weir::engine {

struct Caller {
  std::optional<policy::Address> address;
  std::string_view user;     // empty: none
  std::string_view api_key;  // empty: none
  std::uint32_t tier = 0;    // of Tiers::names
  bool trusted = false;      // whoever sent the headers
  bool authenticated = false;
  bool ignored_headers = false;  // it claimed what only a trusted proxy may say
  bool unknown_tier = false;
};

[[nodiscard]] Caller identify(const policy::Ruleset& ruleset, const Query& query) noexcept;

// Whether there is a header of that name, which is in lower case.
[[nodiscard]] bool has_header(const Query& query, std::string_view name) noexcept;

// The value of a header that is there once and not empty; empty otherwise.
[[nodiscard]] std::string_view sole_header(const Query& query, std::string_view name) noexcept;

// Who the headers of a trusted proxy say that it speaks for.
[[nodiscard]] std::optional<policy::Address> forwarded_address(const policy::Identity& identity, const Query& query,
                                                               const policy::Address& peer) noexcept;

}  // namespace weir::engine
