// The content of one call of the script: the keys, the terms (a rule, a cost and a wait), and the evaluations in the
// order of the groups, with equal evaluations folded.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/operations.h"
#include "core/rule.h"
#include "store/store.h"
#include "table/siphash.h"
#include "weir/cost.h"
#include "weir/time.h"

namespace weir::store::redis {

struct ScriptTerm {
  const core::Rule* rule = nullptr;
  Cost cost{1};
  Duration max_wait = Duration::max();           // for a queue only
  std::optional<core::Settlement> settlement{};  // if set, the cost is ignored

  // True if both have the same effect under the same rule.
  [[nodiscard]] bool is_same(const ScriptTerm& other) const noexcept {
    return rule == other.rule && cost == other.cost && max_wait == other.max_wait && !settlement && !other.settlement;
  }
};

// True for algorithms whose state is a log, which the script stores separately.
[[nodiscard]] bool is_log(const core::Rule& rule) noexcept;

// The numbers of a term, in the order documented in script/arguments.lua; whole numbers below 2^53.
class TermNumbers {
 public:
  // `now`, by this node's clock, selects the calendar windows that are sent.
  TermNumbers(const ScriptTerm& term, Instant now) noexcept;

  [[nodiscard]] std::span<const std::int64_t> values() const noexcept { return {values_.data(), size_}; }

  // True for a bucket, but not a queue, with a cost that is not zero.
  [[nodiscard]] bool is_simple() const noexcept { return is_simple_; }

 private:
  void add(std::int64_t number) noexcept { values_[size_++] = number; }
  void add_span(core::FineSpan span) noexcept;
  void add_reach(const core::ArrivalLimit& limit) noexcept;
  void add_token(const core::ArrivalLimit& limit) noexcept;
  void add_bucket(const core::ArrivalLimit& limit, std::int64_t algorithm, const ScriptTerm& term) noexcept;
  void add_bucket_settlement(const core::ArrivalLimit& limit, std::int64_t algorithm,
                             const core::Settlement& settlement) noexcept;
  void add_window(const core::WindowLimit& limit, std::int64_t algorithm, const ScriptTerm& term) noexcept;
  void add_calendar(const core::FixedWindow::Limit& limit, const ScriptTerm& term, Instant now) noexcept;

  std::array<std::int64_t, 15> values_{};
  std::size_t size_ = 0;
  bool is_simple_ = false;
};

// The distinct keys of a batch, numbered in the order of arrival.
//
// Uses a keyed hash, so that chosen keys cannot make it slow. Stores views of the keys. Allocates once.
template <std::size_t max>
class KeySet {
 public:
  static constexpr std::uint32_t none = UINT32_MAX;

  KeySet() { keys_.reserve(max); }

  void clear() noexcept {
    keys_.clear();
    slots_.fill(0);
  }

  [[nodiscard]] std::size_t size() const noexcept { return keys_.size(); }
  [[nodiscard]] std::string_view operator[](std::size_t number) const noexcept { return keys_[number]; }

  [[nodiscard]] std::uint32_t find(std::string_view key) const noexcept { return slots_[slot_of(key)] - 1U; }

  // Returns the key's number, old or new. Requires size() < max.
  std::uint32_t insert(std::string_view key) {
    std::uint16_t& slot = slots_[slot_of(key)];
    if (slot == 0) {
      keys_.push_back(key);
      slot = static_cast<std::uint16_t>(keys_.size());
    }
    return slot - 1U;
  }

 private:
  static constexpr std::size_t slots = 4 * max;
  static_assert((slots & (slots - 1)) == 0 && max < UINT16_MAX);

  // The slot of the key, or the empty slot where it would go. There is always an empty one.
  [[nodiscard]] std::size_t slot_of(std::string_view key) const noexcept {
    std::size_t slot = table::siphash13(secret_, key) & (slots - 1);
    while (slots_[slot] != 0 && keys_[slots_[slot] - 1U] != key) slot = (slot + 1) & (slots - 1);
    return slot;
  }

  table::HashKey secret_ = table::HashKey::random();
  std::vector<std::string_view> keys_;
  std::array<std::uint16_t, slots> slots_{};  // the key's number plus one; 0 is empty
};

// The groups of a batch, converted to evaluations, with their distinct keys and terms.
//
// Invariants:
//  1. Evaluations are in the order of the groups. A group is folded into an earlier equal one only if no other group
//     came in between on any of its keys: the order on each key is preserved.
//  2. A log that is settled or forgotten has no other evaluation: the script returns its state afterwards, and the
//     charge of each check on it.
//  3. A key has states of one form.
//
// Refers to the groups: they must stay unchanged until clear().
class ScriptPlan {
 public:
  static constexpr std::size_t max_keys = 512;
  static constexpr std::size_t max_members = 4096;
  static constexpr std::size_t max_checks = 2 * max_members;

  // The operations of the script; 1 and 2 are short forms of some cases of `decide`.
  enum class Operation : std::uint8_t {
    decide = 3,
    look,
    decide_in_steps,
    look_in_steps,
    settle,
    forget,
    report,
    grant,
    reserve,
    settle_receipt,
    extend,
    used,
  };

  struct Evaluation {
    Operation operation = Operation::decide;
    std::uint64_t copies = 1;
    std::uint32_t first_check = 0;
    std::uint32_t checks = 0;
    const Group* model = nullptr;       // equal groups may be folded into this evaluation; null: none
    SliceExchange* exchange = nullptr;  // for report and grant
    bool only_peeks = false;            // for reserve

    [[nodiscard]] bool has_receipts() const noexcept { return operation >= Operation::reserve; }
  };

  static constexpr std::uint32_t no_term = UINT32_MAX;

  struct Check {
    std::uint32_t key;
    std::uint32_t term;  // no_term if the key is forgotten
    bool is_guard;
    const core::ReceiptUse* receipt = nullptr;
  };

  struct KeyUse {
    const core::Rule* rule = nullptr;  // the rule used to read the state; null if the key is only forgotten
    std::uint32_t term = no_term;
    std::uint32_t last = 0;  // number of the last evaluation
    bool is_bucket = false;  // valid if there is a rule
    bool is_log = false;
    bool is_exclusive = false;    // a log that is settled or forgotten
    bool has_receipts = false;    // its receipts are needed too
    bool lists_receipts = false;  // and all of them are
  };

  struct Member {
    Group* group;
    std::uint32_t evaluation;
    std::uint32_t charges_back;  // number of charge-back evaluations before it
    std::uint32_t exchanges;     // number of reports before those, and of grants after it
  };

  void clear() noexcept;
  [[nodiscard]] bool add(Group& group);

  [[nodiscard]] std::span<const Member> members() const noexcept { return members_; }
  [[nodiscard]] std::span<const Evaluation> evaluations() const noexcept { return evaluations_; }
  [[nodiscard]] std::span<const Check> checks() const noexcept { return checks_; }
  [[nodiscard]] std::span<const Check> checks_of(const Evaluation& evaluation) const noexcept {
    return checks().subspan(evaluation.first_check, evaluation.checks);
  }
  [[nodiscard]] std::span<const ScriptTerm> terms() const noexcept { return terms_; }
  [[nodiscard]] bool lists_slices() const noexcept { return lists_slices_; }  // a group asks for all slices of its keys
  [[nodiscard]] Instant now() const noexcept { return now_; }  // the latest time of the groups, by this node's clock
  [[nodiscard]] std::size_t keys() const noexcept { return keys_.size(); }
  [[nodiscard]] std::string_view key(std::size_t number) const noexcept { return keys_[number]; }
  [[nodiscard]] const KeyUse& use(std::size_t number) const noexcept { return uses_[number]; }

  // True if the script returns a log as it is after the evaluation.
  [[nodiscard]] static bool corrects(const Evaluation& evaluation) noexcept {
    return evaluation.operation == Operation::settle || evaluation.operation > Operation::reserve;
  }
  // True if the script returns what a check of the evaluation charged to such a log.
  [[nodiscard]] bool returns_charge(const Evaluation& evaluation, const Check& check) const noexcept {
    return (evaluation.operation == Operation::settle_receipt || evaluation.operation == Operation::used) &&
           use(check.key).is_log;
  }

 private:
  [[nodiscard]] bool has_room_for(const Group& group) const noexcept;
  [[nodiscard]] bool goes_with(const Group& group) const noexcept;
  [[nodiscard]] bool fold(Group& group);
  void add_charges_back(const Group& group);
  std::uint32_t add_exchanges(const Group& group, Operation operation);
  void add_evaluation(const Group& group);
  // Returns true if the evaluation already has a check of this key.
  bool add_check(const store::Check& check, std::uint32_t term, bool is_guard, store::Operation operation);
  std::uint32_t number_of(const ScriptTerm& term);

  KeySet<max_keys> keys_;
  std::vector<KeyUse> uses_;  // by key number
  std::vector<Member> members_;
  std::vector<Evaluation> evaluations_;
  std::vector<Check> checks_;
  std::vector<ScriptTerm> terms_;
  bool lists_slices_ = false;
  Instant now_{};
};

}  // namespace weir::store::redis
