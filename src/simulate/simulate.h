// Traffic of the past under a policy: what it would have admitted and denied, and what another would change.
//
//   SimulateOptions options;
//   options.policy = loaded.ruleset;
//   options.logs = {"access.log", "access.log.1.gz"};
//   const Result<Report> report = simulate(options);
//
// The log is replayed on virtual time, in bounded memory, on the calling thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "policy/ruleset.h"
#include "simulate/estimate.h"
#include "simulate/line_order.h"
#include "simulate/log_reader.h"
#include "simulate/nodes.h"
#include "simulate/policy_tally.h"
#include "simulate/report.h"
#include "simulate/tiers_file.h"
#include "table/hash_key.h"
#include "weir/result.h"

namespace weir::simulate {

// Where in its request the time of a line is. Of a request whose end is stamped, and whose duration is known, the start
// is worked out; lines are then out of order by up to the longest duration.
enum class Stamped : std::uint8_t { start, end };

struct SimulateOptions {
  std::shared_ptr<const policy::Ruleset> policy;
  std::shared_ptr<const policy::Ruleset> candidate;  // null: none. It decides the same requests, on states of its own
  std::string policy_name;                           // what the report calls them
  std::string candidate_name;

  NodesOptions nodes;  // that share the limits of `policy`

  // How callers of `policy` would reserve that do not know what their requests cost; beside them `report` is replayed.
  // None: there is no such part of the report.
  std::vector<Estimate> estimates;
  static constexpr std::size_t max_estimates = 8;

  std::vector<std::string> logs;  // one after the other; "-" is standard input
  LogOptions log;                 // User-Agent and Referer are read if a policy has a use for them, in any case
  OrderBounds order;
  WholeSeconds whole_seconds = WholeSeconds::spread;
  Stamped stamped = Stamped::start;
  std::shared_ptr<const TiersFile> tiers;  // of users, where a line names no tier; null: none

  Names names = Names::hashed;
  HashedName hashed_name;
  table::HashKey hash_key = table::HashKey::random();  // of the states, and of names without a hashed_name

  std::size_t memory_budget = std::size_t{1} << 30;  // for the states of each policy
  // For the statistics, of all limits together, and at most 100,000 of each; beyond that a sample. About 100 B each.
  std::size_t max_consumers = 1'600'000;
};

struct SimulateProgress {
  std::size_t log = 0;  // of SimulateOptions::logs
  std::uint64_t consumed = 0;
  std::optional<std::uint64_t> total;  // bytes of that log; a pipe does not tell
  std::uint64_t entries = 0;           // of all logs so far
};

// Called about every 100,000 lines, and at the end of each log.
using OnProgress = std::function<void(const SimulateProgress&)>;

// Fails if a log cannot be opened, or if the memory budget is too small for the policy, or for what nodes share; and if
// nodes are to share limits on what is held at once, which a replay on nodes cannot do. A log that breaks off in the
// middle is no failure: the report says so, and counts what was read.
[[nodiscard]] Result<Report> simulate(const SimulateOptions& options, const OnProgress& on_progress = {});

}  // namespace weir::simulate
