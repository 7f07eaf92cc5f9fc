// What operators read, as JSON: the status, the policy in force, and the consumers that were denied most.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "frontend/admin/backend.h"
#include "observe/denied_most.h"
#include "policy/ruleset.h"
#include "text/json_writer.h"

namespace weir::frontend {

// {"version", "serving", "started_at", "policy": {"file", "digest", "loaded_at", "limits"},
//  "last_reload": {"at", "applied", "error"}, "listeners": [{"name", "listen": [], "connections"}...],
//  "traffic": {"seconds", "requests", "limits": [{"limit", "decisions", "denied", "shadow_denied"}...]},
//  "memory": {"used", "budget"}, "state": {"directory", "hash_key_id"}, "last_snapshot": {"at", "error"},
//  "candidates": [{"limit", "agreed", "newly_denied", "newly_admitted"}...]}; what is not there is null.
// With a shared store also
// {"store": {"kind", "urls": [], "servers", "connected", "breaker", "away_since", "last_error": {"at", "error"},
//  "holder"}}.
[[nodiscard]] std::string status_json(const AdminStatus& status, bool serving);

// {"denied": [{"limit", "consumer", "count", "error"}...]}: between count - error and count denials each.
[[nodiscard]] std::string denied_json(std::span<const observe::DeniedConsumer> denied);

// The policy in force as JSON, its numbers in the words of the policy language:
//
//   {"digest": "...", "tiers": {"header": "x-plan", "names": ["free", "pro"]},
//    "limits": [{"name": "api-by-user", "routes": ["/api/**"], "domain": null, "when": null,
//                "consumer_key": "[user, api_key]", "missing": "skip", "algorithm": "token_bucket",
//                "numbers": {"free": "100/min, burst 20", "pro": "1000/min, burst 100"}, "mode": "enforce",
//                "candidate": {"algorithm": "sliding_window_counter", "numbers": {...}},
//                "warn_first": {"count": 3, "per": 3600},
//                "penalty": {"after": 10, "within": 60, "block": 600}}]}
//
// Times are seconds. A limit without routes covers every request, one with a domain is reached by descriptors. What a
// limit does not have is null.
[[nodiscard]] std::string ruleset_json(const policy::Ruleset& ruleset);

// Null if there is none of that name.
[[nodiscard]] const policy::CompiledLimit* limit_named(const policy::Ruleset& ruleset, std::string_view name) noexcept;

// --- parts of these, which other answers have too: fields of an object that is open

// From `kind` to `heartbeats`.
void write_store_fields(const AdminStatus::Store& store, text::JsonWriter& json);
// From `name` to `mode`.
void write_limit_head(const policy::CompiledLimit& limit, const policy::Tiers& tiers, text::JsonWriter& json);
// `algorithm` and `numbers` of a limit that has a candidate.
void write_candidate_numbers(const policy::CompiledLimit& limit, const policy::Tiers& tiers, text::JsonWriter& json);
// `warn_first` and `penalty`.
void write_graduation(const policy::CompiledLimit& limit, text::JsonWriter& json);

}  // namespace weir::frontend
