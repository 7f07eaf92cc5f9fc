// A policy in force: its states, and the judges that decide by it. Callable from any thread.
//
// A reload replaces the policy whole. Judges finish the queries in hand, then all go on by the new one. States keep
// their usage under new numbers; what the new policy no longer knows is forgotten.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "engine/counters.h"
#include "engine/judge.h"
#include "engine/plan.h"
#include "policy/ruleset.h"
#include "store/local/tables.h"
#include "weir/result.h"
#include "weir/time.h"

namespace weir::engine {

class Engine {
 public:
  using Options = store::Tables::Options;

  static Result<std::unique_ptr<Engine>> create(std::shared_ptr<const policy::Ruleset> ruleset, const Options& options);

  // One for each thread that judges; gone before the engine.
  [[nodiscard]] std::unique_ptr<Judge> new_judge();

  // On an error nothing has changed.
  Result<void> reload(std::shared_ptr<const policy::Ruleset> ruleset, Instant now);

  [[nodiscard]] std::shared_ptr<const Plan> plan() const;

  // Since the start, over reloads and judges that are gone: by (limit, route).
  using Tally = std::map<std::pair<std::string, std::string>, EventTotals>;
  struct Totals {
    Tally by_limit_and_route;
    std::uint64_t ignored_headers = 0;
    std::uint64_t unknown_tiers = 0;
    std::uint64_t uncovered = 0;
  };
  [[nodiscard]] Totals totals() const;

 private:
  friend class Judge;

  Engine(const Options& options, std::shared_ptr<Plan> plan) : options_(options), plan_(std::move(plan)) {}

  void dismiss(Judge& judge);
  static void add(const Judge& judge, Totals& totals);

  const Options options_;

  mutable std::mutex mutex_;  // taken before any judge's
  std::shared_ptr<Plan> plan_;
  std::vector<Judge*> judges_;
  Totals past_;  // of judges and plans that are gone
};

}  // namespace weir::engine
