// A policy in force: its states, and the judges that decide by it. Callable from any thread.
//
// A reload replaces the policy whole. Judges finish the queries in hand, then all go on by the new one. States keep
// their usage under new numbers; what the new policy no longer knows is forgotten.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "engine/counters.h"
#include "engine/judge.h"
#include "engine/plan.h"
#include "engine/store_paths.h"
#include "policy/ruleset.h"
#include "store/local/tables.h"
#include "weir/clock.h"
#include "weir/result.h"
#include "weir/time.h"

namespace weir::engine {

class Engine {
 public:
  using Options = PlanOptions;

  static Result<std::unique_ptr<Engine>> create(std::shared_ptr<const policy::Ruleset> ruleset, const Options& options);

  // The same with the states that save() left in a directory, under their hash key. Files that are damaged, foreign or
  // of another hash key are told as problems, and their limits begin with no states.
  struct Restored {
    std::unique_ptr<Engine> engine;
    std::vector<std::string> names;  // of the states that were restored
    std::vector<Error> problems;
  };
  static Result<Restored> restore(std::shared_ptr<const policy::Ruleset> ruleset, const Options& options,
                                  const std::filesystem::path& directory, Instant now);

  // One file for each table; store/local/snapshot_folder.h says what holds when it is cut short. Decisions go on, a
  // reload waits for it.
  Result<void> save(const std::filesystem::path& directory, Instant now);

  // For states that are saved in the same directory.
  [[nodiscard]] const table::HashKey& hash_key() const noexcept { return options_.hash_key; }

  // One for each thread that judges; gone before the engine. The witness, if there is one, stays longer.
  // `shared`: null where the options have no keys for a shared store, and only there.
  [[nodiscard]] std::unique_ptr<Judge> new_judge(Witness* witness = nullptr, const SharedAccess* shared = nullptr);

  // On an error nothing has changed. Buckets that fill sooner from now on are gone over when it is in force.
  Result<void> reload(std::shared_ptr<const policy::Ruleset> ruleset, const Clock& clock);

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

  // How decisions came about, since the start; all nought where the store is not shared.
  [[nodiscard]] StorePathTotals store_paths() const;

  // What the tables take and hold.
  [[nodiscard]] std::vector<store::Tables::Figures> table_figures(Instant now) const;

  // How many consumers a limit has seen of late, and how many its candidate has treated differently; estimates.
  struct LimitFigures {
    std::string limit;
    std::uint64_t distinct_consumers = 0;
    std::uint64_t newly_denied_consumers = 0;
    std::uint64_t newly_admitted_consumers = 0;
  };
  [[nodiscard]] std::vector<LimitFigures> limit_figures(Instant now) const;

 private:
  friend class Judge;

  Engine(const Options& options, std::shared_ptr<Plan> plan) : options_(options), plan_(std::move(plan)) {}

  void put_into_force(const std::shared_ptr<Plan>& plan, Instant now);
  void dismiss(Judge& judge);
  static void add(const Judge& judge, Totals& totals);
  static void add(const Judge& judge, StorePathTotals& totals);

  const Options options_;

  std::mutex saving_;         // taken first: while states are written none may move to other tables
  mutable std::mutex mutex_;  // taken before any judge's
  std::shared_ptr<Plan> plan_;
  std::vector<Judge*> judges_;
  Totals past_;  // of judges and plans that are gone
  StorePathTotals past_paths_{};
  // Limits were judged here while the shared store was away: their consumers may owe it.
  std::atomic<bool> owes_{false};
};

}  // namespace weir::engine
