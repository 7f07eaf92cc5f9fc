// The limits of one request, matched by a query or named by descriptors. They are decided together, all or nothing.
// Holds the state of each limit, the decision on it, and its receipt.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/bindings.h"
#include "engine/evaluation.h"
#include "engine/receipt.h"
#include "engine/verdict.h"
#include "match/matcher.h"
#include "store/store.h"
#include "weir/time.h"

namespace weir::engine {

struct EvaluationOptions {
  Duration max_wait = Duration::max();
  bool peek = false;  // charges nothing
  bool wants_more_after = false;
  bool wants_holdings = false;               // only for a peek at one limit
  const ReceiptRequest* receipts = nullptr;  // for reserve, hold, report and give-back; must outlive the evaluation
};

// One limit of the request. Its outcome has the same index.
struct AskedLimit {
  const store::States* states = nullptr;  // null: the store is not asked
  const core::Rule* rule = nullptr;
  const store::States* candidate = nullptr;  // null if it has none
  std::size_t text_end = 0;                  // end of its name in AskedLimits::texts
  table::KeyHash consumer{};                 // the key of the states: its own, or a shared one (store::NewKeyBound)
  bool quota = false;                        // see DescriptorsEvaluation
  bool gives_back = false;
  bool was_open = false;    // admitted without asking because the store is unavailable
  bool was_closed = false;  // denied without asking because the store is unavailable

  [[nodiscard]] bool is_concurrency() const noexcept {
    return (states != nullptr && core::is_concurrency(states->rule)) ||
           (candidate != nullptr && core::is_concurrency(candidate->rule));
  }
};

class AskedLimits {
 public:
  explicit AskedLimits(Evaluation& evaluation) noexcept : evaluation_(evaluation) {}

  EvaluationOptions options;
  std::vector<Outcome> outcomes;
  std::vector<AskedLimit> limits;
  std::vector<std::uint32_t> live;      // indexes of the live limits that are asked
  std::string texts;                    // the names of the consumers on a shared store, concatenated
  std::optional<std::uint32_t> closed;  // the first limit with was_closed
  bool opened = false;                  // a limit has was_open
  bool too_many = false;                // more live limits than can be decided together: none is asked

  void begin(const EvaluationOptions& request_options, std::size_t count);
  // Sets the key of a limit's consumer and appends its name on a shared store with append_text(texts). If too many
  // consumers are new, they share a key. Requires `outcome.consumer` and `options`.
  template <class AppendText>
  void set_consumer(std::size_t i, const BoundLimit* bound, const store::States& states, AppendText append_text) {
    AskedLimit& limit = limits[i];
    limit.consumer = outcomes[i].consumer;
    if (bound != nullptr && bound->new_keys != nullptr && shares_key(*bound->new_keys, i)) {
      limit.consumer = states.table->hash(overflow_text_);
      texts += overflow_text_;
    } else if (evaluation_.bindings().shared_keys() != nullptr) {
      append_text(texts);
    }
    limit.text_end = texts.size();
  }
  void add_live(std::size_t i) {
    if (live.size() == match::max_limits) too_many = true;
    if (!too_many) live.push_back(static_cast<std::uint32_t>(i));
  }

  [[nodiscard]] bool is_report() const noexcept { return does(ReceiptRequest::Action::report); }
  [[nodiscard]] bool is_give_back() const noexcept { return does(ReceiptRequest::Action::give_back); }
  [[nodiscard]] bool is_shadow(std::size_t i) const noexcept { return outcomes[i].standing == Standing::shadow; }
  [[nodiscard]] LiveOutcomes live_outcomes() const noexcept { return {outcomes, live}; }
  [[nodiscard]] std::string_view text(std::size_t i) const noexcept {
    const std::size_t begin = i == 0 ? 0 : limits[i - 1].text_end;
    return std::string_view(texts).substr(begin, limits[i].text_end - begin);
  }
  [[nodiscard]] store::Operation operation(bool charges) const noexcept {
    if (is_report()) return store::Operation::report;
    return charges && !options.peek ? store::Operation::decide : store::Operation::look;
  }

  store::Check& add_check(store::Group& group, std::size_t i, const store::States& states, const core::Rule& rule,
                          Cost cost);
  store::Check& add_check(store::Group& group, std::size_t i, Cost cost) {
    return add_check(group, i, *limits[i].states, *limits[i].rule, cost);
  }
  // Adds a check with a cost of one, for states that count events.
  store::Check& add_once(store::Group& group, std::size_t i, const store::States& states) {
    return add_check(group, i, states, states.rule, Cost{1});
  }

  // Copies the decisions on the live limits. If the store did not answer and there is no fallback, all of them deny.
  void read_decisions(store::Group& group) noexcept;
  // Removes limits that became open or closed from `live`. Returns the number of closed quotas.
  std::size_t read_paths(const store::Group& group) noexcept;
  // A report is admitted even if nothing remains.
  void read_report(const store::Group& group) noexcept;

  // `uses_` has the receipts of the live limits first, then those of their candidates.
  void prepare_receipts();
  [[nodiscard]] core::ReceiptId receipt_id() const noexcept { return receipt_id_; }
  [[nodiscard]] bool opened_receipt(std::size_t i) const noexcept;
  void write_receipt_outcomes();

 private:
  [[nodiscard]] bool does(ReceiptRequest::Action action) const noexcept {
    return options.receipts != nullptr && options.receipts->action == action;
  }
  [[nodiscard]] bool shares_key(store::NewKeyBound& new_keys, std::size_t i);
  [[nodiscard]] core::ReceiptUse* use_of(std::size_t i, const store::States& states, const core::Rule& rule);

  Evaluation& evaluation_;
  std::string overflow_text_;  // written by shares_key
  std::vector<core::ReceiptUse> uses_;
  core::ReceiptId receipt_id_{};
};

}  // namespace weir::engine
