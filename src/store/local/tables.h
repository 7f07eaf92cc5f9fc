// The states of a policy in this process: one table for each identity of a state, each with its share of the budget.
//
// A Tables is made for one policy and never changes; the next policy's takes over, from its predecessor, the tables of
// the states that it still knows. A table whose cells are too narrow for new numbers is replaced by a wider one, and
// its states move: nobody may decide on either meanwhile (see move_states).
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

// A state that a policy needs, with the largest numbers it will see.
struct Wanted {
  StateId id;
  std::vector<core::Rule> rules;  // of all tiers
};

class Tables {
 public:
  struct Options {
    std::size_t memory_budget = std::size_t{256} << 20;
    table::HashKey hash_key;
  };

  // `previous` and `saved` may be null: the tables to take over, and the states to begin with where there are none.
  static Result<std::unique_ptr<Tables>> create(std::span<const Wanted> wanted, const Options& options,
                                                const Tables* previous, SavedStates* saved = nullptr);

  [[nodiscard]] table::Table* find(const StateId& id) const noexcept;

  // Whether a table was replaced by a wider one: then move_states has to run before the first decision.
  [[nodiscard]] bool has_moves() const noexcept { return !moves_.empty(); }
  void move_states(Instant now);
  // Where buckets take less time to fill than under the predecessor's numbers: nobody waits longer than the new ones
  // make it. A block is served as it was given. Call it when the predecessor is out of use.
  void carry_over(const Clock& clock);

  // Takes effect on the tables that were taken over: call it when the predecessor is out of use.
  void apply_budget() noexcept;

  // Decisions go on meanwhile. Files of states that are no longer known are removed when all others are written.
  Result<void> save(const SnapshotFolder& folder, Instant now) const;

  // What a table takes and holds; the entries are an estimate.
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
  struct Held {
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

  // The table of the same states: under the same identity, or, for a live limit, those of the candidate that it was.
  [[nodiscard]] const Held* predecessor_of(const StateId& id, std::span<const Wanted> wanted) const;

  std::map<StateId, Held> tables_;
  std::vector<Move> moves_;
  std::vector<Shortened> shortened_;
  std::size_t share_ = 0;
};

}  // namespace weir::store
