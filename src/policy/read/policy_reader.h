// policy.yaml, as it was written, and the parts of it that an OpenAPI document has too.
//
// What is wrong is reported, and is then as if it were not there: compile() can still find what is wrong between the
// rest.
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

// `identity` and `tiers`: who is calling. The same shape at the root of policy.yaml, and in OpenAPI's
// x-rate-limit-identity and x-rate-limit-tiers. `called` is what the field is called in the file.
[[nodiscard]] Identity read_identity(const text::Node& node, std::string_view called, Problems& problems);
[[nodiscard]] TiersSpec read_tiers(const text::Node& node, std::string_view called, Problems& problems);

// The methods that `methods` adds to those of the IANA's registry, in upper case. Null where none can be added.
using MoreMethods = const std::vector<std::string>*;

// Before the name of a header, in consumer_key and cost.
inline constexpr std::string_view header_prefix = "header:";

// scope_reader.cpp: which requests are meant, and by what they are counted.

// A route of `routes` or of `cost`: what parse_route() reads, but for what it would read and nobody means, which would
// never match a request: a method that nobody knows, `:id` instead of `{id}`, or a regular expression.
[[nodiscard]] std::optional<Written<RouteTemplate>> read_route(std::string_view text, Mark at, MoreMethods more,
                                                               Problems& problems);

// The list under `methods`.
[[nodiscard]] std::vector<std::string> read_methods(const text::Node& node, Problems& problems);

// `user`, `header:NAME`, `user+route`, `[user, ip]`. A '+' always separates, so that no header's name can have one.
[[nodiscard]] std::optional<Written<ConsumerKey>> read_consumer_key(const text::Node& node, Problems& problems);

// `authenticated`, `anonymous`, `{ ip_in: [10.0.0.0/8] }`, `{ ip_not_in: [...] }`.
[[nodiscard]] std::optional<Written<When>> read_when(const text::Node& node, Problems& problems);

// Each once; the list may be empty.
[[nodiscard]] std::optional<std::vector<AddressRange>> read_ranges(const text::Node& node, std::string_view field,
                                                                   Problems& problems);

}  // namespace weir::policy
