// The states of a policy in this process: one table per state identity, each with its share of the memory budget.
//
// A Tables object belongs to one policy and never changes; the next policy's object takes over the tables that it still
// needs. A table whose cells are too narrow for new numbers is replaced by a wider one and its states are moved: no
// decision may run on either during the move (see move_states).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "core/rule.h"
#include "store/local/snapshot_folder.h"
#include "store/local/state_id.h"
#include "table/hash_key.h"
#include "table/table.h"
#include "weir/clock.h"
#include "weir/limit.h"
#include "weir/result.h"

namespace weir::store {

// A state that a policy needs, with all rules that will be applied to it.
struct RequiredState {
  StateId id;
  std::vector<core::Rule> rules;  // the rules of all tiers
};

class Tables {
 public:
  struct Options {
    std::size_t memory_budget = std::size_t{256} << 20;
    table::HashKey hash_key;
  };

  // `previous` (tables to take over) and `saved` (snapshots to start from) may be null.
  static Result<std::unique_ptr<Tables>> create(std::span<const RequiredState> wanted, const Options& options,
                                                const Tables* previous, SavedStates* saved = nullptr);

  [[nodiscard]] table::Table* find(const StateId& id) const noexcept;

  // True if a table was replaced by a wider one: then move_states must run before the first decision.
  [[nodiscard]] bool has_moves() const noexcept { return !moves_.empty(); }
  void move_states(Instant now);
  // Applies the new numbers to buckets that fill faster than under the previous policy, so that no consumer waits
  // longer than the new numbers imply. Blocks stay as they were imposed. Call it when the predecessor is unused.
  void carry_over(const Clock& clock);

  // Changes the tables that were taken over, so call it when the predecessor is no longer in use.
  void apply_budget() noexcept;

  // Does not block decisions. Files of unknown states are removed after all current files are written.
  Result<void> save(const SnapshotFolder& folder, Instant now) const;

  // Memory use and contents of a table; `entries` is an estimate.
  struct Figures {
    StateId id;
    std::size_t bytes = 0;
    std::size_t budget = 0;
    std::uint64_t overflowed = 0;
    std::uint64_t entries = 0;
  };
  [[nodiscard]] std::vector<Figures> figures(Instant now) const;

  [[nodiscard]] std::size_t bytes_used() const noexcept;
  [[nodiscard]] std::uint64_t overflowed() const noexcept;

 private:
  struct Entry {
    std::shared_ptr<table::Table> table;
    std::vector<core::Rule> rules;
  };
  struct Shortened {
    table::Table* table;
    core::Rule longest;
  };
  struct Move {
    std::shared_ptr<table::Table> from;
    core::Rule from_rule;
    table::Table* to;
    core::Rule to_rule;
  };

  // Finds the table with the same states: under its own identity or, for a former candidate, under that of a candidate.
  [[nodiscard]] const Entry* predecessor_of(const StateId& id, std::span<const RequiredState> wanted) const;

  std::map<StateId, Entry> tables_;
  std::vector<Move> moves_;
  std::vector<Shortened> shortened_;
  std::size_t share_ = 0;
};

}  // namespace weir::store
