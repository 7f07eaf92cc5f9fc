// A report as JSON. Field names are stable: new ones may come, none changes its meaning within a version.
//
//   version         1
//   from, to        first and last request, RFC 3339, UTC, whole seconds
//   pace            requests, mean_per_second, peak_second {count, at}, peak_minute {count, at}, burst_ratio
//                   (`at`: begin; a minute is any 60 seconds in a row; burst_ratio: peak second over the mean)
//   log             files, format, lines, entries, not_understood {total, <kind>..., examples [{line, kind, excerpt}]},
//                   overlong_lines, late, out_of_order, left_early, whole_second_entries,
//                   whole_seconds ("spread" | "stacked"), problems
//   policy          name, digest, admitted, denied, warned, delayed, uncovered, ignored_headers, unknown_tiers,
//                   overflowed,
//                   limits [{name, algorithm, numbers, consumer_key, mode, COUNTS, pace,
//                     routes [{route, COUNTS}],
//                     hardest_hit RANKING,
//                     demand [{tier, numbers, number ("burst" | "queue" | "limit"), present, upper_bound, consumers,
//                       sampled_one_in, satisfied, needed [{rate, p50, p99, p999, max}],
//                       histogram [{from, to, consumers}]}],
//                     candidate {algorithm, numbers, agrees, newly_denied, newly_admitted,
//                       newly_denied_consumers RANKING, newly_admitted_consumers RANKING} | null}],
//                   routes [{route, admitted, denied, pace}],
//                   timeline {start, seconds_per_bin, admitted [...], denied [...]}
//   candidate       the second policy, like `policy`, or null
//   comparison      both_admit, both_deny, newly_denied, newly_admitted,
//                   by_limit_and_route [{limit, route, newly_denied, newly_admitted}],
//                   newly_denied_consumers [{limit, consumers RANKING}], newly_admitted_consumers likewise; or null
//   keys            "hashed" | "shown"
//
// COUNTS: admitted, denied, blocked (of the denied, by a penalty), uncharged (another limit denied), warned,
// shadow_denied, skipped, shared, unlimited.
// RANKING: total, consumers (how many; an estimate unless `exact`), exact, top [{consumer, count, error}].
#pragma once

#include <string>

#include "simulate/report.h"

namespace weir::simulate {

[[nodiscard]] std::string report_json(const Report& report);

}  // namespace weir::simulate
