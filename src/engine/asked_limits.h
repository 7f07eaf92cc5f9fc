// The limits that one request asks together, all or nothing, whether a query met them or descriptors named them: what
// each of them is to the request, what was decided on it, and its receipt.
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

struct AskOptions {
  Duration max_wait = Duration::max();
  bool peek = false;  // charges nothing
  bool wants_more_after = false;
  bool wants_holdings = false;           // for a look at one limit
  const ReceiptAsk* receipts = nullptr;  // to reserve, hold, report or give back; must outlive the evaluation
};

// A limit that the request asks; its outcome has the same index.
struct AskedLimit {
  const store::States* states = nullptr;  // null: nothing to ask
  const core::Rule* rule = nullptr;
  const store::States* candidate = nullptr;  // null: none
  std::size_t text_end = 0;                  // in AskedLimits::texts
  table::KeyHash consumer{};                 // of the states: its own, or one that it shares (store::NewKeyBound)
  bool quota = false;                        // see DescriptorsEvaluation
  bool gives_back = false;
  bool was_open = false;    // not asked, the store being unavailable
  bool was_closed = false;  // the same

  [[nodiscard]] bool is_on_holds() const noexcept {
    return (states != nullptr && core::is_concurrency(states->rule)) ||
           (candidate != nullptr && core::is_concurrency(candidate->rule));
  }
};

class AskedLimits {
 public:
  explicit AskedLimits(Evaluation& evaluation) noexcept : evaluation_(evaluation) {}

  AskOptions options;
  std::vector<Outcome> outcomes;
  std::vector<AskedLimit> limits;
  std::vector<std::uint32_t> live;      // the outcomes of live limits that are asked
  std::string texts;                    // the consumers as a shared store names them, one behind the other
  std::optional<std::uint32_t> closed;  // the first limit that is closed, the store being unavailable
  bool opened = false;                  // a limit was not asked, the store being unavailable
  bool too_many = false;                // more live limits than are decided together: none is asked

  void begin(const AskOptions& asked, std::size_t count);
  // Sets the key of a limit's consumer, and its name on a shared store, which append_text(texts) writes. Where too many
  // consumers are new, that is a key that they share. `outcome.consumer` and `options` are set before.
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

  [[nodiscard]] bool is_report() const noexcept { return does(ReceiptAsk::What::report); }
  [[nodiscard]] bool is_give_back() const noexcept { return does(ReceiptAsk::What::give_back); }
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
  // On states that count occasions, not costs.
  store::Check& add_once(store::Group& group, std::size_t i, const store::States& states) {
    return add_check(group, i, states, states.rule, Cost{1});
  }

  // The decisions on the live limits. Of a store that neither answers nor has a fallback: nothing passes.
  void read_decisions(store::Group& group) noexcept;
  // Drops from the live limits those that were not asked, the store being unavailable. Returns how many quotas of them
  // are closed.
  std::size_t read_paths(const store::Group& group) noexcept;
  // A report charges whatever remains.
  void read_report(const store::Group& group) noexcept;

  // Receipts: those of the live limits come first in `uses`, then those of their candidates.
  void prepare_receipts();
  [[nodiscard]] core::ReceiptId receipt_id() const noexcept { return receipt_id_; }
  [[nodiscard]] bool opened_receipt(std::size_t i) const noexcept;
  void write_receipt_outcomes();

 private:
  [[nodiscard]] bool does(ReceiptAsk::What what) const noexcept {
    return options.receipts != nullptr && options.receipts->what == what;
  }
  [[nodiscard]] bool shares_key(store::NewKeyBound& new_keys, std::size_t i);
  [[nodiscard]] core::ReceiptUse* use_of(std::size_t i, const store::States& states, const core::Rule& rule);

  Evaluation& evaluation_;
  std::string overflow_text_;  // see shares_key
  std::vector<core::ReceiptUse> uses_;
  core::ReceiptId receipt_id_{};
};

}  // namespace weir::engine
