// The step machine that takes one request through a store. Its users are queries, descriptors, receipts and resets.
//
// A step reads the answers to the groups of checks prepared before it, prepares the next groups, and sets the step that
// reads their answers. Most requests take one step with one group.
//
//   1. A step runs only while no group is unanswered.
//   2. Each prepared group is submitted once, in order. The batch submits the groups that begin() prepares, in the
//      order of its requests; advance() submits all others.
//   3. Answers that arrive before submit() returns continue in the loop of advance(), never in a nested call.
//   4. A step that names no next one is the last. After it nothing is submitted or called until the next begin().
//   5. If the store failed for the first group, no later group waits for it: this process decides them all.
//
// Not thread-safe: used on the thread of the evaluator, under its lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/bindings.h"
#include "engine/counters.h"
#include "engine/receipt.h"
#include "engine/verdict.h"
#include "store/store.h"
#include "weir/time.h"

namespace weir::engine {

class EvaluationBatch;

struct EvaluationResult {
  Verdict verdict;
  store::Holdings holdings;  // set by a peek with wants_holdings; a reset sets it to the values before the reset
  ReceiptParts receipt;      // opened by a reserve; has no parts if there is none
  // One for each limit of an admitted reserve or of a report, or for each part of a receipt. Candidates have none.
  std::vector<ReceiptOutcome> receipt_outcomes;
};

class Evaluation : private store::Callback {
 public:
  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;

  // The groups that the batch submits after begin(). If there are none, the batch calls advance() at once.
  [[nodiscard]] std::span<store::Group> prepared() noexcept {
    trim_checks();
    return std::span(groups_).first(used_);
  }
  // True if a later step asks the store, even if the first one does not.
  [[nodiscard]] bool asks_later() const noexcept { return asks_later_; }
  void advance();

  // Valid from the last step until the next begin().
  [[nodiscard]] const EvaluationResult& result() const noexcept { return result_; }

  // --- for derived evaluations, and for what they share (asked_limits.h, followers.h)

  [[nodiscard]] const Bindings& bindings() const noexcept { return *bindings_; }
  [[nodiscard]] Instant now() const noexcept { return now_; }
  [[nodiscard]] StorePaths* paths() const noexcept { return paths_; }  // null: the store is local
  [[nodiscard]] EvaluationResult& result() noexcept { return result_; }
  [[nodiscard]] bool store_failed() const noexcept { return failure_ != store::Failure::none; }
  // Returns the fallback of a later group, given the fallback for a store that has answered so far.
  [[nodiscard]] store::Fallback later(store::Fallback if_it_answered) const noexcept {
    return store_failed() ? store::Fallback::at_once : if_it_answered;
  }

  void ask_later() noexcept { asks_later_ = true; }
  store::Group& new_group(store::Operation operation, store::Fallback fallback);
  // The next check of the newest group. It may contain values of an earlier request.
  [[nodiscard]] store::Check& next_check(store::Group& group) {
    if (checks_used_ == group.checks.size()) group.checks.emplace_back();
    return group.checks[checks_used_++];
  }
  // The answered groups. New groups reuse their memory: read the n-th answer before more than n new groups are made.
  [[nodiscard]] std::span<store::Group> take_answers() noexcept {
    return std::span(groups_).first(std::exchange(used_, 0));
  }
  // Applies the store's failure and deadline in the first answer to all later groups.
  void note_first(const store::Group& group) noexcept;

 protected:
  explicit Evaluation(EvaluationBatch& batch) noexcept;
  ~Evaluation() = default;

  // `first` is the step that reads the answers to the groups that begin() prepares.
  template <class User>
  void start(const Bindings& bindings, Instant now, void (User::*first)()) {
    start(bindings, now);
    then(first);
  }
  template <class User>
  void then(void (User::*step)()) noexcept {
    next_ = static_cast<Step>(step);
  }

 private:
  using Step = void (Evaluation::*)();

  void start(const Bindings& bindings, Instant now);
  void answered(store::Group& group) override;
  void trim_checks();

  EvaluationBatch& batch_;
  store::Store& store_;
  StorePaths* const paths_;

  const Bindings* bindings_ = nullptr;
  Instant now_{};
  Step next_ = nullptr;
  std::vector<store::Group> groups_;  // only grows; those in use come first
  std::size_t used_ = 0;
  std::size_t checks_used_ = 0;  // number of checks used in the last group
  std::size_t pending_ = 0;      // groups that are not answered
  bool advancing_ = false;       // advance() is submitting, and will continue by itself
  bool asks_later_ = false;
  store::Failure failure_ = store::Failure::none;  // the store's failure on the first group
  std::optional<store::Deadline> deadline_;        // deadline of all steps together
  EvaluationResult result_;
};

}  // namespace weir::engine
