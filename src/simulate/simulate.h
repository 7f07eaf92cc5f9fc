// Replays past traffic under a policy: what it would have admitted and denied, and what another policy would change.
//
//   SimulateOptions options;
//   options.policy = loaded.ruleset;
//   options.logs = {"access.log", "access.log.1.gz"};
//   const Result<Report> report = simulate(options);
//
// Runs on virtual time, in bounded memory, on the calling thread.
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

// Says whether the time of a line is the start or the end of its request. With `end`, the start is computed from the
// duration if it is known; lines are then out of order by up to the longest duration.
enum class Stamped : std::uint8_t { start, end };

struct SimulateOptions {
  std::shared_ptr<const policy::Ruleset> policy;
  std::shared_ptr<const policy::Ruleset> candidate;  // may be null; decides the same requests on its own states
  std::string policy_name;                           // for the report
  std::string candidate_name;

  NodesOptions nodes;  // the nodes that share the limits of `policy`

  // How callers of `policy` estimate their costs, in addition to `report`. Empty disables this part of the report.
  std::vector<Estimate> estimates;
  static constexpr std::size_t max_estimates = 8;

  std::vector<std::string> logs;  // one after the other; "-" is standard input
  LogOptions log;                 // User-Agent and Referer are always read if a policy uses them
  OrderBounds order;
  WholeSeconds whole_seconds = WholeSeconds::spread;
  Stamped stamped = Stamped::start;
  std::shared_ptr<const TiersFile> tiers;  // the tiers of users, for lines without a tier; may be null

  Names names = Names::hashed;
  HashedName hashed_name;
  table::HashKey hash_key = table::HashKey::random();  // for the states, and for names if hashed_name is empty

  std::size_t memory_budget = std::size_t{1} << 30;  // for the states of each policy
  // The sample size of all limits together; a limit has at most 100,000. A consumer needs about 100 bytes.
  std::size_t max_consumers = 1'600'000;
};

struct SimulateProgress {
  std::size_t log = 0;  // index in SimulateOptions::logs
  std::uint64_t consumed = 0;
  std::optional<std::uint64_t> total;  // bytes of that log; absent for a pipe
  std::uint64_t entries = 0;           // entries of all logs so far
};

// Called every 100,000 entries and at the end of each log.
using OnProgress = std::function<void(const SimulateProgress&)>;

// Fails if a log cannot be opened, if the memory budget is too small for the policy or the shared states of nodes, or
// if the policy has concurrency limits and nodes are simulated, which is not supported. A truncated log is not a
// failure: the report mentions it and covers what was read.
[[nodiscard]] Result<Report> simulate(const SimulateOptions& options, const OnProgress& on_progress = {});

}  // namespace weir::simulate
