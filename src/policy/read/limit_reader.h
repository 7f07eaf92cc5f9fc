// Reads one limit of policy.yaml or of OpenAPI's x-rate-limit, by the table in limit_fields.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/limit_fields.h"
#include "policy/read/policy_reader.h"

namespace weir::policy {

// The properties of a limit that its document determines.
struct LimitContext {
  // The name of a limit without `name`. If unset, `name` is required.
  std::optional<Written<std::string>> name;
  // The routes of a limit that is attached to them; `routes` is then rejected. If unset, `routes` is read.
  std::optional<std::vector<Written<RouteTemplate>>> routes;
  MoreMethods methods = nullptr;
  LimitFields fields = limit_fields();
  const Identity* identity = nullptr;  // the identities that keys and conditions may name; null: user and api_key
};

[[nodiscard]] std::optional<LimitSpec> read_limit(const text::Node& node, const LimitContext& context,
                                                  Problems& problems);

// Readers of single fields. An invalid value is reported and then treated as absent.

void read_name(const FieldInput& at);
void read_routes(const FieldInput& at);
void read_except(const FieldInput& at);
void read_cost(const FieldInput& at);
void read_max_cost(const FieldInput& at);
void read_candidate(const FieldInput& at);
void read_consistency(const FieldInput& at);

[[nodiscard]] std::optional<Written<PolicyAlgorithm>> read_algorithm(text::MapReader& map);
[[nodiscard]] std::vector<TierOverrideSpec> read_tier_overrides(const text::Node& node, LimitFields fields,
                                                                Problems& problems);
[[nodiscard]] std::optional<Written<WarnFirst>> read_warn_first(const text::Node& node, Problems& problems);
[[nodiscard]] std::optional<Written<Penalty>> read_penalty(const text::Node& node, Problems& problems);

// Reads a rate, or a ban if the value is `0`.
void read_rate(text::MapReader& map, std::string_view field, NumbersSpec& numbers);
// Reads an integer of at least 1.
[[nodiscard]] std::optional<Written<std::uint64_t>> read_count(text::MapReader& map, std::string_view field);
[[nodiscard]] std::optional<Written<Duration>> read_seconds(text::MapReader& map, std::string_view field);
[[nodiscard]] std::optional<Written<const core::Calendar*>> read_window(text::MapReader& map, std::string_view field);
// Reads the lease of a concurrency limit.
[[nodiscard]] std::optional<Written<Duration>> read_lease(text::MapReader& map, std::string_view field);

}  // namespace weir::policy
