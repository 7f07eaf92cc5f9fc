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

// Reads the list under `methods`.
[[nodiscard]] std::vector<std::string> read_methods(const text::Node& node, Problems& problems);

// Reads `user`, `header:NAME`, `user+route`, `[user, ip]`. A '+' always separates: no header name can contain one.
[[nodiscard]] std::optional<Written<ConsumerKey>> read_consumer_key(const text::Node& node, Problems& problems);

// Reads `authenticated`, `anonymous`, `{ ip_in: [10.0.0.0/8] }`, `{ ip_not_in: [...] }`.
[[nodiscard]] std::optional<Written<When>> read_when(const text::Node& node, Problems& problems);

// Rejects duplicates. The list may be empty.
[[nodiscard]] std::optional<std::vector<AddressRange>> read_ranges(const text::Node& node, std::string_view field,
                                                                   Problems& problems);

}  // namespace weir::policy
