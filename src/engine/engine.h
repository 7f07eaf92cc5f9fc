// A policy in force: its states, and the evaluators that decide by it. Callable from any thread.
//
// A reload replaces the policy whole. Evaluators finish the batches in hand, then all go on by the new one. States keep
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

#include "engine/bindings.h"
#include "engine/counters.h"
#include "engine/evaluator.h"
#include "policy/ruleset.h"
#include "store/local/tables.h"
#include "weir/clock.h"
#include "weir/result.h"
#include "weir/time.h"

namespace weir::engine {

class Engine {
 public:
  using Options = Bindings::Options;

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

  // One for each thread that evaluates; gone before the engine.
  [[nodiscard]] std::unique_ptr<Evaluator> new_evaluator(const EvaluatorOptions& options = {});

  // Set where something was admitted here while a shared store was away, and is still to be charged to it: for an
  // OutageStore on these states.
  [[nodiscard]] std::atomic<bool>& has_charges() noexcept { return has_charges_; }

  // On an error nothing has changed. Buckets that fill sooner from now on are gone over when it is in force.
  Result<void> reload(std::shared_ptr<const policy::Ruleset> ruleset, const Clock& clock);

  [[nodiscard]] std::shared_ptr<const Bindings> bindings() const;

  // Since the start, over reloads and evaluators that are gone: by (limit, route).
  using Tally = std::map<std::pair<std::string, std::string>, EventTotals>;
  struct Totals {
    Tally by_limit_and_route;
    std::uint64_t ignored_headers = 0;
    std::uint64_t unknown_tiers = 0;
    std::uint64_t uncovered = 0;
  };
  [[nodiscard]] Totals totals() const;

  // How decisions came about, since the start; all zero where the store is not shared.
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
  friend class Evaluator;

  Engine(const Options& options, std::shared_ptr<Bindings> bindings)
      : options_(options), bindings_(std::move(bindings)) {}

  void put_into_force(const std::shared_ptr<Bindings>& bindings, Instant now);
  void dismiss(Evaluator& evaluator);
  static void add(const Evaluator& evaluator, Totals& totals);
  static void add(const Evaluator& evaluator, StorePathTotals& totals);

  const Options options_;

  std::mutex saving_;         // taken first: while states are written none may move to other tables
  mutable std::mutex mutex_;  // taken before any evaluator's
  std::shared_ptr<Bindings> bindings_;
  std::vector<Evaluator*> evaluators_;
  Totals past_;  // of evaluators and plans that are gone
  StorePathTotals past_paths_{};
  std::atomic<bool> has_charges_{false};
};

}  // namespace weir::engine
