// Reads policy.yaml, and the parts of it that an OpenAPI document has too. An invalid value is reported and then
// treated as absent, so that compile() can still check the rest.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/limit_fields.h"
#include "policy/spec.h"
#include "text/yaml/document.h"

namespace weir::policy {

[[nodiscard]] PolicySpec read_policy(const text::Node& root, Problems& problems, LimitFields fields = limit_fields());

// Read `identity` and `tiers` of policy.yaml, or x-rate-limit-identity and x-rate-limit-tiers of OpenAPI. `called` is
// the name of the field in the file.
[[nodiscard]] Identity read_identity(const text::Node& node, std::string_view called, Problems& problems);
[[nodiscard]] TiersSpec read_tiers(const text::Node& node, std::string_view called, Problems& problems);

// The methods that `methods` adds to the IANA registry, in upper case. Null where none can be added.
using MoreMethods = const std::vector<std::string>*;

// Precedes the name of a header in consumer_key and cost.
inline constexpr std::string_view header_prefix = "header:";

// The functions below are in scope_reader.cpp.

// Reads a route of `routes` or `cost`. Also rejects routes that parse_route() accepts but that would never match a
// request: an unknown method, `:id` instead of `{id}`, or a regular expression.
[[nodiscard]] std::optional<Written<RouteTemplate>> read_route(std::string_view text, Mark at, MoreMethods more,
                                                               Problems& problems);

// Reads routes for which no limit, or not this limit, applies: `except`, and `routes` in `exempt`. `field` is the name
// of the list. Rejects duplicates, and routes that no request could surely match.
[[nodiscard]] std::vector<Written<RouteTemplate>> read_excluded_routes(const text::Node& node, std::string_view field,
                                                                       MoreMethods more, Problems& problems);

// Reads `exempt` of policy.yaml, or x-rate-limit-exempt of OpenAPI. Defined in exempt_reader.cpp.
[[nodiscard]] Exemptions read_exempt(const text::Node& node, std::string_view called, const Identity& identity,
                                     MoreMethods more, Problems& problems);

// Reads the list under `methods`.
[[nodiscard]] std::vector<std::string> read_methods(const text::Node& node, Problems& problems);

// Reads `user`, `header:NAME`, `user+route`, `[user, ip]`, or the name of an identity. A '+' always separates: no
// header name can contain one.
[[nodiscard]] std::optional<Written<ConsumerKey>> read_consumer_key(const text::Node& node, const Identity& identity,
                                                                    Problems& problems);

// Reads `authenticated`, `anonymous`, `{ ip_in: [10.0.0.0/8] }`, `{ identity_in: { user: [...] } }`, `{ any: [...] }`.
// Defined in condition_reader.cpp.
[[nodiscard]] std::optional<Written<When>> read_when(const text::Node& node, const Identity& identity,
                                                     Problems& problems);

// Reads the values of an identity: a list of texts without duplicates. `field` is its name.
[[nodiscard]] std::optional<std::vector<std::string>> read_identity_values(const text::Node& node,
                                                                           std::string_view field, Problems& problems);

// True if a condition, an exemption or a tier may depend on this identity. An identity that is unknown, or that any
// client can choose, is reported.
[[nodiscard]] bool can_depend_on(const Written<std::string>& name, std::string_view field, const Identity& identity,
                                 Problems& problems);

// Rejects duplicates. The list may be empty.
[[nodiscard]] std::optional<std::vector<AddressRange>> read_ranges(const text::Node& node, std::string_view field,
                                                                   Problems& problems);

}  // namespace weir::policy
