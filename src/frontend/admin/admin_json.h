// Writes the status, the active policy and the most denied consumers as JSON. docs/openapi.yaml describes the fields.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "frontend/admin/backend.h"
#include "observe/recent_traffic.h"
#include "observe/top_denied.h"
#include "policy/ruleset.h"
#include "text/json_writer.h"

namespace weir::frontend {

// `store` is present only with a shared store.
[[nodiscard]] std::string status_json(const AdminStatus& status, bool serving);

// A consumer was denied between `count` - `error` and `count` times.
[[nodiscard]] std::string denied_json(std::span<const observe::DeniedConsumer> denied);

// Numbers are in policy syntax, times in seconds. Absent values are null.
[[nodiscard]] std::string ruleset_json(const policy::Ruleset& ruleset);

// Returns null if the ruleset has no limit with this name.
[[nodiscard]] const policy::CompiledLimit* limit_named(const policy::Ruleset& ruleset, std::string_view name) noexcept;

// These write fields of an open object. live_json.h and limits_json.cpp use them too.

// `decisions`, `denied` and `shadow_denied`.
void write_counts(const observe::TrafficCounts& counts, text::JsonWriter& json);
// `limits`: the same counts per limit.
void write_limit_counts(std::span<const observe::LimitTraffic> limits, text::JsonWriter& json);
// `last_reload`.
void write_last_reload(const std::optional<AdminStatus::Reload>& last, text::JsonWriter& json);
// The fields from `kind` to `heartbeats`.
void write_store_fields(const AdminStatus::Store& store, text::JsonWriter& json);
// The fields from `name` to `usage`.
void write_limit_head(const policy::CompiledLimit& limit, const policy::Tiers& tiers, text::JsonWriter& json);
// `algorithm` and `numbers` of the candidate, which the limit must have.
void write_candidate_numbers(const policy::CompiledLimit& limit, const policy::Tiers& tiers, text::JsonWriter& json);
// `warn_first` and `penalty`.
void write_graduation(const policy::CompiledLimit& limit, text::JsonWriter& json);

}  // namespace weir::frontend
