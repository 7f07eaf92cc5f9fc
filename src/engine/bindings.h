// Binds the limits of a policy to their states and counters: the tables in this process, the names on a shared store,
// and the rows of the counters. Immutable once in use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/rule.h"
#include "engine/distinct.h"
#include "match/matcher.h"
#include "policy/ruleset.h"
#include "store/known_keys.h"
#include "store/leased/slice_table.h"
#include "store/local/tables.h"
#include "store/shared/shared_terms.h"
#include "store/shared_keys.h"
#include "store/store.h"
#include "table/hash_key.h"
#include "table/table.h"
#include "weir/result.h"

namespace weir::engine {

using TierStates = std::vector<std::optional<store::States>>;  // one element per tier; unset: unlimited

// Returns null if the tier is unlimited.
[[nodiscard]] inline const store::States* states_of(const TierStates& states, std::uint32_t tier) noexcept {
  return tier < states.size() && states[tier] ? &*states[tier] : nullptr;
}

// Consumers that a candidate would treat differently from its live limit.
struct DivergingConsumers {
  DistinctEstimate newly_denied;
  DistinctEstimate newly_admitted;
};

struct BoundLimit {
  const policy::CompiledLimit* source = nullptr;
  std::uint64_t code = 0;  // ReceiptParts::name_code of its name
  TierStates live;
  TierStates candidate;  // empty: no candidate
  std::optional<store::States> warnings;
  std::optional<store::States> denials;
  std::optional<store::States> block;
  std::size_t first_row = 0;  // first row in the counters, which have one row for each of Matcher::routes_of
  std::optional<policy::Usage> usage;

  std::shared_ptr<RecentDistinct> consumers;      // survives reloads
  std::shared_ptr<DivergingConsumers> diverging;  // survives reloads that do not change the candidate
  // Bounds the new keys per second on a shared store; survives reloads. Null: no bound.
  std::shared_ptr<store::NewKeyBound> new_keys;
};

class Bindings {
 public:
  struct Options {
    std::size_t memory_budget = std::size_t{256} << 20;
    table::HashKey hash_key;
    // The names of states on a shared store. Null: all states are local to this process.
    std::shared_ptr<const store::SharedKeys> shared_keys = nullptr;
    // This process as a holder of slices of leased limits. Null: leased limits are decided exactly.
    std::shared_ptr<store::SliceHolder> slice_holder = nullptr;
    // The keys that were sent to the shared store. Null: new keys are not bounded.
    std::shared_ptr<store::KnownKeys> known_keys = nullptr;
    std::uint64_t max_new_keys = 0;  // per second, for each limit
  };

  Bindings() = default;
  Bindings(const Bindings&) = delete;
  Bindings& operator=(const Bindings&) = delete;
  ~Bindings();  // returns the slices of these limits

  // Takes over the states of `previous`, some only in Tables::move_states. `previous`, `saved` and `exceptions` may be
  // null; `exceptions` must be made for this ruleset.
  static Result<std::shared_ptr<Bindings>> create(std::shared_ptr<const policy::Ruleset> ruleset,
                                                  const Options& options, const Bindings* previous,
                                                  store::SavedStates* saved = nullptr,
                                                  std::unique_ptr<match::Exceptions> exceptions = nullptr);

  [[nodiscard]] const match::Matcher& matcher() const noexcept { return *matcher_; }
  // Shared, so that a caller can keep names valid after these bindings are destroyed.
  [[nodiscard]] const std::shared_ptr<const match::Matcher>& shared_matcher() const noexcept { return matcher_; }
  [[nodiscard]] const policy::Ruleset& ruleset() const noexcept { return matcher_->ruleset(); }
  [[nodiscard]] const std::vector<BoundLimit>& limits() const noexcept { return limits_; }
  // `code` is a BoundLimit::code.
  [[nodiscard]] std::optional<std::uint32_t> find_limit(std::uint64_t code) const noexcept;
  // ReceiptParts::name_code of each tier's name.
  [[nodiscard]] const std::vector<std::uint64_t>& tier_codes() const noexcept { return tier_codes_; }
  [[nodiscard]] store::Tables& tables() const noexcept { return *tables_; }

  // Null: all states are local to this process.
  [[nodiscard]] const store::SharedKeys* shared_keys() const noexcept { return shared_keys_.get(); }
  // The name of CL.THROTTLE's states on the shared store: that of a limit without a name.
  [[nodiscard]] const store::SharedName& throttle_name() const noexcept { return throttle_name_; }

  // The states of limits that a request overrides; null if `window` is not a unit that an override can have.
  [[nodiscard]] const store::States* override_states(const policy::Domain& domain, Duration window) const noexcept;

  // One table for each tier of each leased limit.
  [[nodiscard]] const std::vector<std::shared_ptr<store::SliceTable>>& slices() const noexcept { return slices_; }

  // Null: nothing is leased.
  [[nodiscard]] const store::SliceHolder* slice_holder() const noexcept {
    return slices_.empty() ? nullptr : slice_holder_.get();
  }

  [[nodiscard]] std::size_t rows() const noexcept { return rows_; }

  // The exceptions of operators. They change while these bindings are in use: only Engine changes them, under the locks
  // of all evaluators.
  [[nodiscard]] match::ExceptionsAt exceptions_at(Instant now) const noexcept {
    return {exceptions_->empty() ? nullptr : exceptions_.get(), now};
  }
  [[nodiscard]] match::Exceptions& exceptions() const noexcept { return *exceptions_; }
  // True if the tables of the limit can store states of these numbers.
  [[nodiscard]] bool holds(std::uint32_t limit, const match::Replacement& replacement) const noexcept;

 private:
  Result<void> open_tables(const Options& options, const Bindings* previous, store::SavedStates* saved);
  void bind_limits(const Options& options, const Bindings* previous);
  [[nodiscard]] store::SharedTerms shared_terms(const policy::CompiledLimit& limit, std::size_t tier,
                                                const store::States& live);
  [[nodiscard]] BoundLimit bind(const policy::CompiledLimit& limit);
  [[nodiscard]] store::States states(const store::StateId& id, const Limit& limit) const;

  std::shared_ptr<const match::Matcher> matcher_;
  std::unique_ptr<match::Exceptions> exceptions_;
  std::unique_ptr<store::Tables> tables_;
  std::shared_ptr<const store::SharedKeys> shared_keys_;
  std::map<store::StateId, store::SharedName> shared_names_;
  std::map<store::StateId, store::States> overrides_;
  store::SharedName throttle_name_;
  std::shared_ptr<store::SliceHolder> slice_holder_;
  std::vector<std::shared_ptr<store::SliceTable>> slices_;
  std::deque<store::SharedTerms> shared_terms_;  // limits_ and overrides_ point into it
  std::vector<BoundLimit> limits_;
  std::unordered_map<std::uint64_t, std::uint32_t> limits_by_code_;
  std::vector<std::uint64_t> tier_codes_;
  std::size_t rows_ = 0;
};

}  // namespace weir::engine
