// What operators read, as JSON: the status, the policy in force, and the consumers that were denied most.
// docs/openapi.yaml describes the fields.
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

// `store` is there only with a shared store.
[[nodiscard]] std::string status_json(const AdminStatus& status, bool serving);

// Each consumer was denied between `count` - `error` and `count` times.
[[nodiscard]] std::string denied_json(std::span<const observe::DeniedConsumer> denied);

// Numbers are in the words of the policy language, times in seconds. What a limit does not have is null.
[[nodiscard]] std::string ruleset_json(const policy::Ruleset& ruleset);

// Null if there is none of that name.
[[nodiscard]] const policy::CompiledLimit* limit_named(const policy::Ruleset& ruleset, std::string_view name) noexcept;

// --- parts of these, which other answers have too: fields of an object that is open

// `decisions`, `denied` and `shadow_denied`.
void write_counts(const observe::TrafficCounts& counts, text::JsonWriter& json);
// `limits`: the same of each limit.
void write_limit_counts(std::span<const observe::LimitTraffic> limits, text::JsonWriter& json);
// `last_reload`.
void write_last_reload(const std::optional<AdminStatus::Reload>& last, text::JsonWriter& json);
// From `kind` to `heartbeats`.
void write_store_fields(const AdminStatus::Store& store, text::JsonWriter& json);
// From `name` to `mode`.
void write_limit_head(const policy::CompiledLimit& limit, const policy::Tiers& tiers, text::JsonWriter& json);
// `algorithm` and `numbers` of a limit that has a candidate.
void write_candidate_numbers(const policy::CompiledLimit& limit, const policy::Tiers& tiers, text::JsonWriter& json);
// `warn_first` and `penalty`.
void write_graduation(const policy::CompiledLimit& limit, text::JsonWriter& json);

}  // namespace weir::frontend
