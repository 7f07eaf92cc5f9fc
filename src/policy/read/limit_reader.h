// One limit, as policy.yaml and OpenAPI's x-rate-limit write it: by the table of fields, whose values are read here.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/limit_fields.h"
#include "policy/read/policy_reader.h"

namespace weir::policy {

// What the place of a limit says already.
struct LimitPlace {
  // The name of a limit that has no `name`; without it, `name` is required.
  std::optional<Written<std::string>> name;
  // The routes of a limit that stands beside them, where `routes` has no place; without it, `routes` says them.
  std::optional<std::vector<Written<RouteTemplate>>> routes;
  MoreMethods methods = nullptr;
  LimitFields fields = limit_fields();
};

[[nodiscard]] std::optional<LimitSpec> read_limit(const text::Node& node, const LimitPlace& place, Problems& problems);

// The values of fields. What is wrong is reported, and is then as if it were not there.

void read_name(const FieldSpot& at);
void read_routes(const FieldSpot& at);
void read_cost(const FieldSpot& at);
void read_max_cost(const FieldSpot& at);
void read_candidate(const FieldSpot& at);
void read_consistency(const FieldSpot& at);

[[nodiscard]] std::optional<Written<PolicyAlgorithm>> read_algorithm(text::MapReader& map);
[[nodiscard]] std::vector<TierOverrideSpec> read_tier_overrides(const text::Node& node, LimitFields fields,
                                                                Problems& problems);
[[nodiscard]] std::optional<Written<WarnFirst>> read_warn_first(const text::Node& node, Problems& problems);
[[nodiscard]] std::optional<Written<Penalty>> read_penalty(const text::Node& node, Problems& problems);

// `0` is a ban, and all else a rate.
void read_rate(text::MapReader& map, std::string_view field, NumbersSpec& numbers);
// A number from 1.
[[nodiscard]] std::optional<Written<std::uint64_t>> read_count(text::MapReader& map, std::string_view field);
[[nodiscard]] std::optional<Written<Duration>> read_seconds(text::MapReader& map, std::string_view field);
[[nodiscard]] std::optional<Written<const core::Calendar*>> read_window(text::MapReader& map, std::string_view field);
// The lease of a concurrency limit.
[[nodiscard]] std::optional<Written<Duration>> read_lease(text::MapReader& map, std::string_view field);

}  // namespace weir::policy
