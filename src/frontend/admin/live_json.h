// Writes the JSON that the page and `weir top` read: seconds, limits, events, the policy on disk, the store.
// docs/decisions/0020 describes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "frontend/admin/backend.h"
#include "frontend/admin/reports.h"
#include "observe/notices.h"
#include "observe/seconds.h"
#include "policy/ruleset.h"
#include "text/json_writer.h"

namespace weir::frontend {

// Writes one list per count, with an element per second.
void write_series(std::span<const observe::TrafficCounts> counts, text::JsonWriter& json);

// Returns one message of the stream: `id`, `event: second`, and `data` with the JSON.
[[nodiscard]] std::string second_message(std::uint64_t id, const observe::MeasuredSecond& measured,
                                         std::uint64_t memory_budget, std::span<const observe::Notice> notices);

// The last message of a stream when the server shuts down.
inline constexpr std::string_view end_message = "event: end\ndata: {}\n\n";

// `limit` is the requested limit; empty: none.
[[nodiscard]] std::string history_json(const HistoryReport& report, std::string_view limit);

inline constexpr std::size_t max_listed_limits = 1'000;

[[nodiscard]] std::string limits_json(const policy::Ruleset& ruleset, const LimitsReport& report);

// `limit` must belong to `ruleset`.
[[nodiscard]] std::string limit_json(const policy::Ruleset& ruleset, const policy::CompiledLimit& limit,
                                     const LimitsReport& report);

[[nodiscard]] std::string notices_json(std::span<const observe::Notice> notices);

[[nodiscard]] std::string policy_json(const PolicyReport& report);

// Without a shared store, `status.store` and `report` are empty and `store` is null.
[[nodiscard]] std::string cluster_json(const AdminStatus& status, const std::optional<StoreReport>& report);

// Escapes `<`, `>` and `&`, so that the JSON can never be taken for markup. They occur only in strings.
[[nodiscard]] std::string without_markup(std::string json);

}  // namespace weir::frontend
