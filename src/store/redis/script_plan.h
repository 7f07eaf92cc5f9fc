// What a batch asks of the script: the asks as evaluations, the different keys, the different terms.
//
// Invariants:
//  1. Evaluations are in the order of the asks. An ask is folded into an earlier one that is equal, if since then no
//     other came on any of its keys: the order on each key stays.
//  2. A log that is settled or forgotten has no other evaluation: what the script tells of it is as it is then.
//  3. A key has states of one form.
//
// Views the asks: they stay, unchanged, until clear().
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "store/redis/key_set.h"
#include "store/redis/script_term.h"
#include "store/shared/shared_store.h"

namespace weir::store::redis {

class ScriptPlan {
 public:
  static constexpr std::size_t most_keys = 512;
  static constexpr std::size_t most_asks = 4096;
  static constexpr std::size_t most_checks = 2 * most_asks;

  // Of decide.lua; 1 and 2 are short ways to write some of `decide`.
  enum class Operation : std::uint8_t { decide = 3, look, decide_in_steps, look_in_steps, settle, forget };

  struct Evaluation {
    Operation operation = Operation::decide;
    std::uint64_t copies = 1;
    std::uint32_t first_check = 0;
    std::uint32_t checks = 0;
    const SharedAsk* model = nullptr;  // what is equal to it may be folded into it; none where nothing may
  };

  static constexpr std::uint32_t no_term = UINT32_MAX;

  struct Check {
    std::uint32_t key;
    std::uint32_t term;  // none where the key is forgotten
    bool is_guard;
  };

  struct KeyUse {
    const core::Rule* rule = nullptr;  // by which its state is read; none where it is only forgotten
    std::uint32_t term = no_term;
    std::uint32_t last = 0;  // evaluation
    bool is_bucket = false;  // where there is a rule
    bool is_log = false;
    bool keeps_alone = false;  // a log that is settled or forgotten
  };

  struct Member {
    SharedAsk* ask;
    std::uint32_t evaluation;
    std::uint32_t charges_back;  // how many evaluations before it do that for it
  };

  void clear() noexcept;
  [[nodiscard]] bool add(SharedAsk& ask);

  [[nodiscard]] std::span<const Member> members() const noexcept { return members_; }
  [[nodiscard]] std::span<const Evaluation> evaluations() const noexcept { return evaluations_; }
  [[nodiscard]] std::span<const Check> checks() const noexcept { return checks_; }
  [[nodiscard]] std::span<const Check> checks_of(const Evaluation& evaluation) const noexcept {
    return checks().subspan(evaluation.first_check, evaluation.checks);
  }
  [[nodiscard]] std::span<const ScriptTerm> terms() const noexcept { return terms_; }
  [[nodiscard]] std::size_t keys() const noexcept { return keys_.size(); }
  [[nodiscard]] std::string_view key(std::size_t number) const noexcept { return keys_[number]; }
  [[nodiscard]] const KeyUse& use(std::size_t number) const noexcept { return uses_[number]; }

 private:
  [[nodiscard]] bool has_room_for(const SharedAsk& ask) const noexcept;
  [[nodiscard]] bool goes_with(const SharedAsk& ask) const noexcept;
  [[nodiscard]] bool fold(SharedAsk& ask);
  void add_charges_back(const SharedAsk& ask);
  void add_evaluation(const SharedAsk& ask);
  // True if the evaluation has a check of this key already.
  bool add_check(const SharedCheck& check, std::uint32_t term, bool is_guard, SharedOperation operation);
  std::uint32_t number_of(const ScriptTerm& term);

  KeySet<most_keys> keys_;
  std::vector<KeyUse> uses_;  // of the keys
  std::vector<Member> members_;
  std::vector<Evaluation> evaluations_;
  std::vector<Check> checks_;
  std::vector<ScriptTerm> terms_;
};

}  // namespace weir::store::redis
