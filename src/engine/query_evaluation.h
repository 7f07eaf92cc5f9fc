// Evaluates a query or a named query: its live limits together, all or nothing, then the followers.
//
//   live limits and their blocks -> warnings -> penalties -> shadow limits, candidates, refunds
//
// Shadow limits and candidates cannot change a live decision: they have their own states and follow the verdict.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/asked_limits.h"
#include "engine/evaluation.h"
#include "engine/followers.h"
#include "engine/verdict.h"
#include "match/matcher.h"
#include "store/store.h"

namespace weir::engine {

class QueryEvaluation final : public Evaluation {
 public:
  explicit QueryEvaluation(EvaluationBatch& batch) noexcept : Evaluation(batch) {}

  // The limits that the query matched. Must be set before begin().
  match::Matched matched;

  void begin(const Bindings& bindings, const EvaluationOptions& options, Instant now);

 private:
  void begin_outcome(std::size_t i);
  void prepare_receipts();
  void check_max_reserve() noexcept;
  void deny_large_reserve() noexcept;

  void ask_live();
  void read_live();
  void read_blocks_of_live(const store::Group& group) noexcept;
  void conclude_live();
  void ask_warning();
  void read_warning();
  void ask_penalties();
  void read_penalties();
  void read_blocks();
  void conclude(bool admits);
  void ask_followers(bool admits);
  void read_followers();
  void read_corrections();
  void finish();
  void finish_give_back();
  void name_exception() noexcept;
  template <class Filter>
  void write_receipt(Filter is_part);

  [[nodiscard]] const BoundLimit& limit_of(std::size_t i) const noexcept {
    return bindings().limits()[asked_.outcomes[i].limit];
  }
  [[nodiscard]] bool is_denied_outright() const noexcept { return matched.denied_by != match::no_limit; }
  [[nodiscard]] Reason reason_without_live() const noexcept;
  [[nodiscard]] std::optional<std::uint32_t> lacking_receipt() const noexcept;
  [[nodiscard]] Verdict store_unavailable_verdict() const noexcept;

  AskedLimits asked_{*this};
  Followers followers_{*this, asked_};
  std::vector<std::uint32_t> subjects_;  // the outcomes that the guards or groups of this step belong to
  Deniers deniers_;
  bool blocked_ = false;
  Reason reason_ = Reason::uncovered;
};

}  // namespace weir::engine
