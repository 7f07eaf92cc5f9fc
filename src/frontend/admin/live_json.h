// What the page and `weir top` read, as JSON: seconds, limits, events, the policy on disk, the store. The form of each
// is in docs/decisions/0020.
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

// A list of each count, by the second.
void write_series(std::span<const observe::TrafficCounts> counts, text::JsonWriter& json);

// One message of the stream: `id`, `event: second`, and the JSON behind `data`.
[[nodiscard]] std::string second_message(std::uint64_t id, const observe::MeasuredSecond& measured,
                                         std::uint64_t memory_budget, std::span<const observe::Notice> news);

// The last message of a stream that the server ends.
inline constexpr std::string_view end_message = "event: end\ndata: {}\n\n";

// `limit` is the name that was asked for; empty: none was.
[[nodiscard]] std::string history_json(const HistoryReport& report, std::string_view limit);

// The limits of the policy in force with what they do.
inline constexpr std::size_t max_listed_limits = 1'000;

[[nodiscard]] std::string limits_json(const policy::Ruleset& ruleset, const LimitsReport& report);

// One of the ruleset's.
[[nodiscard]] std::string limit_json(const policy::Ruleset& ruleset, const policy::CompiledLimit& limit,
                                     const LimitsReport& report);

[[nodiscard]] std::string notices_json(std::span<const observe::Notice> notices);

[[nodiscard]] std::string policy_json(const PolicyReport& report);

// `status` is that of the store, which is null where all states are this process's own; so is `report` then.
[[nodiscard]] std::string cluster_json(const AdminStatus& status, const std::optional<StoreReport>& report);

// The same JSON without any character that starts or ends markup: all of them stand in texts, where they may be
// escaped.
[[nodiscard]] std::string without_markup(std::string json);

}  // namespace weir::frontend
