// What one call of the script is to do: the keys, the terms (a rule, a cost and a wait), and the evaluations in the
// order of the groups, equal ones folded into one.
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
  Duration max_wait = Duration::max();           // of a queue
  std::optional<core::Settlement> settlement{};  // then the cost is of no account

  // Whether it says the same, for the same rule.
  [[nodiscard]] bool says_the_same(const ScriptTerm& other) const noexcept {
    return rule == other.rule && cost == other.cost && max_wait == other.max_wait && !settlement && !other.settlement;
  }
};

// What the script keeps apart: it counts alike for algorithms whose states are alike.
[[nodiscard]] bool is_log(const core::Rule& rule) noexcept;

// The numbers of a term, in the order that decide.lua documents; each a whole one below 2^53.
class TermNumbers {
 public:
  // `now` by this node: the edges of a calendar's windows are those around it.
  TermNumbers(const ScriptTerm& term, Instant now) noexcept;

  [[nodiscard]] std::span<const std::int64_t> values() const noexcept { return {values_.data(), size_}; }

  // Whether a bucket, but no queue, is asked for a cost that is not nothing.
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

// The different keys of a batch, each with a number, in the order in which they came.
//
// Found by a hash under a secret, so that no choice of keys makes it slow. Holds views of the keys. Allocates once.

template <std::size_t most>
class KeySet {
 public:
  static constexpr std::uint32_t none = UINT32_MAX;

  KeySet() { keys_.reserve(most); }

  void clear() noexcept {
    keys_.clear();
    places_.fill(0);
  }

  [[nodiscard]] std::size_t size() const noexcept { return keys_.size(); }
  [[nodiscard]] std::string_view operator[](std::size_t number) const noexcept { return keys_[number]; }

  [[nodiscard]] std::uint32_t find(std::string_view key) const noexcept { return places_[place_of(key)] - 1U; }

  // Its number, old or new. There is room: size() < most.
  std::uint32_t insert(std::string_view key) {
    std::uint16_t& place = places_[place_of(key)];
    if (place == 0) {
      keys_.push_back(key);
      place = static_cast<std::uint16_t>(keys_.size());
    }
    return place - 1U;
  }

 private:
  static constexpr std::size_t places = 4 * most;
  static_assert((places & (places - 1)) == 0 && most < UINT16_MAX);

  // Where the key is, or would be. There is always an empty one.
  [[nodiscard]] std::size_t place_of(std::string_view key) const noexcept {
    std::size_t place = table::siphash13(secret_, key) & (places - 1);
    while (places_[place] != 0 && keys_[places_[place] - 1U] != key) place = (place + 1) & (places - 1);
    return place;
  }

  table::HashKey secret_ = table::HashKey::random();
  std::vector<std::string_view> keys_;
  std::array<std::uint16_t, places> places_{};  // a key's number and one; 0 is empty
};

// What a batch groups of the script: the groups as evaluations, the different keys, the different terms.
//
// Invariants:
//  1. Evaluations are in the order of the groups. A group is folded into an earlier one that is equal, if since then no
//     other came on any of its keys: the order on each key stays.
//  2. A log that is settled or forgotten has no other evaluation: what the script tells of it is as it is then. What it
//     was charged by that, the script says for each check.
//  3. A key has states of one form.
//
// Views the groups: they stay, unchanged, until clear().

class ScriptPlan {
 public:
  static constexpr std::size_t max_keys = 512;
  static constexpr std::size_t max_members = 4096;
  static constexpr std::size_t max_checks = 2 * max_members;

  // Of decide.lua; 1 and 2 are short ways to write some of `decide`.
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
    const Group* model = nullptr;       // what is equal to it may be folded into it; none where nothing may
    SliceExchange* exchange = nullptr;  // of a report and a grant
    bool only_looks = false;            // of a reserve

    // Whether something is done with receipts.
    [[nodiscard]] bool has_receipts() const noexcept { return operation >= Operation::reserve; }
  };

  static constexpr std::uint32_t no_term = UINT32_MAX;

  struct Check {
    std::uint32_t key;
    std::uint32_t term;  // none where the key is forgotten
    bool is_guard;
    const core::ReceiptUse* receipt = nullptr;
  };

  struct KeyUse {
    const core::Rule* rule = nullptr;  // by which its state is read; none where it is only forgotten
    std::uint32_t term = no_term;
    std::uint32_t last = 0;  // evaluation
    bool is_bucket = false;  // where there is a rule
    bool is_log = false;
    bool keeps_alone = false;   // a log that is settled or forgotten
    bool has_receipts = false;  // of a log: the value with its receipts is needed too
  };

  struct Member {
    Group* group;
    std::uint32_t evaluation;
    std::uint32_t charges_back;  // how many evaluations before it do that for it
    std::uint32_t exchanges;     // as many reports come before those, and as many grants behind it
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
  [[nodiscard]] Instant now() const noexcept { return now_; }  // of the group that has the latest, by this node
  [[nodiscard]] std::size_t keys() const noexcept { return keys_.size(); }
  [[nodiscard]] std::string_view key(std::size_t number) const noexcept { return keys_[number]; }
  [[nodiscard]] const KeyUse& use(std::size_t number) const noexcept { return uses_[number]; }

  // True if the script returns a log as it is after the evaluation.
  [[nodiscard]] static bool corrects(const Evaluation& evaluation) noexcept {
    return evaluation.operation == Operation::settle || evaluation.operation > Operation::reserve;
  }
  // True if the script returns what a check of the evaluation charged to such a log.
  [[nodiscard]] bool tells_charge(const Evaluation& evaluation, const Check& check) const noexcept {
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
  // True if the evaluation has a check of this key already.
  bool add_check(const store::Check& check, std::uint32_t term, bool is_guard, store::Operation operation);
  std::uint32_t number_of(const ScriptTerm& term);

  KeySet<max_keys> keys_;
  std::vector<KeyUse> uses_;  // of the keys
  std::vector<Member> members_;
  std::vector<Evaluation> evaluations_;
  std::vector<Check> checks_;
  std::vector<ScriptTerm> terms_;
  Instant now_{};
};

}  // namespace weir::store::redis
