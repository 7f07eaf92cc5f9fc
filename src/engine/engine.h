// The active policy, its states, and the evaluators that use it. Thread-safe.
//
// A reload replaces the whole policy. Evaluators finish their current batches, then all switch to the new policy.
// States keep their usage under new numbers; states of limits that the new policy does not have are dropped.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
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

  // Creates an engine with the states and the hash key that save() wrote to a directory. A file that is damaged,
  // foreign or has another hash key is reported as a problem, and its limit starts without states.
  struct Restored {
    std::unique_ptr<Engine> engine;
    std::vector<std::string> names;  // names of the restored states
    std::vector<Error> problems;
  };
  static Result<Restored> restore(std::shared_ptr<const policy::Ruleset> ruleset, const Options& options,
                                  const std::filesystem::path& directory, Instant now);

  // Writes one file for each table; store/local/snapshot_folder.h describes what an interrupted save leaves. Decisions
  // continue during a save; a reload waits for it.
  Result<void> save(const std::filesystem::path& directory, Instant now);

  // Other states that are saved in the same directory use this key too.
  [[nodiscard]] const table::HashKey& hash_key() const noexcept { return options_.hash_key; }

  // One for each thread. Evaluators must be destroyed before the engine.
  [[nodiscard]] std::unique_ptr<Evaluator> new_evaluator(const EvaluatorOptions& options = {});

  // True if requests that were admitted while the shared store was unavailable are not yet charged to it. Used by an
  // OutageStore on these states.
  [[nodiscard]] std::atomic<bool>& has_charges() noexcept { return has_charges_; }

  // On an error nothing changes. States whose buckets now fill sooner are converted after the new policy is active.
  // `exceptions` must be made for the ruleset; null: none.
  Result<void> reload(std::shared_ptr<const policy::Ruleset> ruleset, const Clock& clock,
                      std::unique_ptr<match::Exceptions> exceptions = nullptr);

  // Calls change(exceptions) while no evaluator matches. It must be fast, and the tables of the limits must hold the
  // states of all numbers (Bindings::holds): otherwise reload with the same policy. A reload must not run at the same
  // time.
  void change_exceptions(const std::function<void(match::Exceptions&)>& change);

  [[nodiscard]] std::shared_ptr<const Bindings> bindings() const;

  // Totals by (limit, route) since startup, including earlier policies and destroyed evaluators.
  using Tally = std::map<std::pair<std::string, std::string>, EventTotals>;
  struct Totals {
    Tally by_limit_and_route;
    std::map<std::string, std::uint64_t> denied_requests;  // by the route that the request matched
    std::uint64_t ignored_headers = 0;
    std::uint64_t unknown_tiers = 0;
    std::uint64_t uncovered = 0;
    std::uint64_t shadow_only = 0;  // requests that only shadow limits cover
    std::uint64_t exempt = 0;
    std::uint64_t blocked = 0;     // requests that an operator's block denied
    std::uint64_t overridden = 0;  // decisions by the numbers of an override
  };
  [[nodiscard]] Totals totals() const;

  // Totals since startup; all zero if the store is not shared.
  [[nodiscard]] StorePathTotals store_paths() const;

  [[nodiscard]] std::vector<store::Tables::Figures> table_figures(Instant now) const;

  // Estimates of a limit's recent consumers, and of those that its candidate would have treated differently.
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

  void activate(const std::shared_ptr<Bindings>& bindings, Instant now);
  void unregister_evaluator(Evaluator& evaluator);
  static void add(const Evaluator& evaluator, Totals& totals);
  static void add(const Evaluator& evaluator, StorePathTotals& totals);

  const Options options_;

  std::mutex saving_;         // locked before mutex_: states must not move to other tables while they are saved
  mutable std::mutex mutex_;  // locked before the mutex of any evaluator
  std::shared_ptr<Bindings> bindings_;
  std::vector<Evaluator*> evaluators_;
  Totals past_;  // totals of destroyed evaluators and earlier policies
  StorePathTotals past_paths_{};
  std::atomic<bool> has_charges_{false};
};

}  // namespace weir::engine
