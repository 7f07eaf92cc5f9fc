// The answers that the backend has the content of, as JSON: a status, and the consumers that were denied most.
#pragma once

#include <span>
#include <string>

#include "door/admin/backend.h"
#include "observe/denied_most.h"

namespace weir::door {

// {"version", "serving", "started_at", "policy": {"file", "digest", "loaded_at", "limits"},
//  "last_reload": {"at", "applied", "error"}, "doors": [{"name", "listen": [], "connections"}...],
//  "traffic": {"seconds", "requests", "limits": [{"limit", "decisions", "denied", "shadow_denied"}...]},
//  "memory": {"used", "budget"}, "state": {"directory", "hash_key_id"}, "last_snapshot": {"at", "error"},
//  "candidates": [{"limit", "agreed", "newly_denied", "newly_admitted"}...]}; what is not there is null.
// With a shared store also
// {"store": {"kind", "urls": [], "servers", "connected", "breaker", "away_since", "last_error": {"at", "error"}}}.
[[nodiscard]] std::string status_json(const AdminStatus& status, bool serving);

// {"denied": [{"limit", "consumer", "count", "error"}...]}: between count - error and count denials each.
[[nodiscard]] std::string denied_json(std::span<const observe::DeniedConsumer> denied);

}  // namespace weir::door
