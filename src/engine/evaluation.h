// One request evaluated: its matched limits together, all or nothing, with what follows from it. The same for a query,
// a limit by name and descriptors, on any store.
//
//   live limits and their blocks -> warnings -> penalties -> shadow limits, candidates, what is given back
//
// A step prepares groups of checks, and the next begins when the store has answered all of them; most requests take one
// step with one group. Nothing that a shadow limit or a candidate does can change a live decision: their states are
// their own, and they are asked when the verdict is final.
//
// Quota descriptors (`quota_mode`) stand for each other: those that are over are left out, and the request is over only
// if all of them are, or any other descriptor is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/bindings.h"
#include "engine/counters.h"
#include "engine/matched_descriptors.h"
#include "engine/receipt.h"
#include "engine/verdict.h"
#include "match/descriptors.h"
#include "match/matcher.h"
#include "store/store.h"
#include "weir/time.h"

namespace weir::engine {

class Evaluation;

// Who has evaluations: told of each when it goes on, and once when it is finished.
class EvaluationOwner {
 public:
  // All groups of a step are answered: calls advance(), under what keeps states where they are.
  virtual void on_answered(Evaluation& evaluation) = 0;
  virtual void on_finished(Evaluation& evaluation) = 0;

 protected:
  ~EvaluationOwner() = default;
};

class Evaluation final : private store::Callback {
 public:
  // All stay longer. `paths` is null where the store is this process's own.
  Evaluation(EvaluationOwner& owner, store::Store& store, StorePaths* paths) noexcept
      : owner_(owner), store_(store), paths_(paths) {}
  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;
  virtual ~Evaluation() = default;

  // The limits that a query met, filled before begin().
  match::Matched matched;

  // Each prepares the first step.
  struct Options {
    Duration max_wait = Duration::max();
    bool peek = false;  // charges nothing
    bool wants_more_after = false;
    bool wants_holdings = false;           // of a look at one limit
    const ReceiptAsk* receipts = nullptr;  // to reserve, hold, report or give back; stays until it is finished
  };
  void begin(const Bindings& bindings, Options options, Instant now);
  void begin(const Bindings& bindings, std::string_view domain, std::span<const match::DescriptorQuery> asks,
             Options options, Instant now);
  // Forgets what a limit has counted for a consumer. `key`: its key; `consumer`: the same as a shared store calls it.
  void begin_reset(const Bindings& bindings, const BoundLimit& limit, std::string_view key, std::string_view consumer,
                   Instant now);

  // Settles, releases or extends what a reserve charged. Both stay until it is finished.
  void begin_receipt(const Bindings& bindings, const Receipt& receipt, const ReceiptAsk& ask, Instant now);

  // The first step is submitted by the owner, in the order of its requests; what has none is to be advanced at once.
  [[nodiscard]] std::span<store::Group> groups() noexcept {
    trim_checks();
    return std::span(groups_).first(used_);
  }
  // Whether it asks the store for something at all.
  [[nodiscard]] bool needs_store() const noexcept { return used_ > 0 || has_followers_; }
  void advance();

  // When it is finished; the views are good until the next begin().
  [[nodiscard]] const Verdict& verdict() const noexcept { return verdict_; }
  [[nodiscard]] std::span<const DescriptorStatus> statuses() const noexcept { return statuses_; }
  // False: descriptors of a domain that the policy does not have.
  [[nodiscard]] bool is_known_domain() const noexcept { return is_known_domain_; }
  // The configured limit that a descriptor was judged by; Verdict::no_limit if there was none.
  [[nodiscard]] std::uint32_t limit_of_descriptor(std::size_t i) const noexcept { return outcomes_[i].limit; }
  enum class Reset : std::uint8_t { done, shared, unanswered };
  [[nodiscard]] Reset reset() const noexcept { return reset_; }
  // Of a look that wants them, and of a reset: what was out.
  [[nodiscard]] const store::Holdings& holdings() const noexcept { return holdings_; }
  // Of a reserve: what it opened, to be settled; null: nothing.
  [[nodiscard]] const Receipt* receipt() const noexcept { return receipt_.parts.empty() ? nullptr : &receipt_; }
  // What came of receipts, for each limit but candidates: of a reserve that was admitted, of a report, and of what is
  // done with a receipt, whose parts they are.
  [[nodiscard]] std::span<const ReceiptOutcome> receipt_outcomes() const noexcept { return receipt_outcomes_; }

 private:
  enum class Stage : std::uint8_t { live, warning, penalties, blocks, followers, corrections, reset, receipt };

  // What a matched limit is to the request.
  struct Part {
    const store::States* states = nullptr;  // null: nothing to ask
    const core::Rule* rule = nullptr;
    const store::States* candidate = nullptr;  // null: none
    std::size_t text_end = 0;                  // of consumer_texts_
    table::KeyHash consumer{};                 // of the states: its own, or one that it shares (store::NewKeyBound)
    bool quota = false;
    bool gives_back = false;
    bool banned = false;
    bool was_open = false;    // not asked, the store being away
    bool was_closed = false;  // the same

    [[nodiscard]] bool is_on_holds() const noexcept {
      return (states != nullptr && core::is_concurrency(states->rule)) ||
             (candidate != nullptr && core::is_concurrency(candidate->rule));
    }
  };
  // `charge`: a descriptor of a call that is denied, or one that does not fit; charged without asking.
  enum class FollowerKind : std::uint8_t { shadow, give_back, candidate, candidate_give_back, charge };
  struct Follower {
    std::uint32_t outcome;
    FollowerKind kind;
  };
  // What is settled behind the followers, or, of a shadow descriptor that does not fit, charged all the same.
  struct Correction {
    std::uint32_t outcome;
    Cost given;
  };

  void answered(store::Group& group) override;
  void start(const Bindings& bindings, Instant now, std::size_t outcomes);
  void begin_outcome(std::size_t i);
  // Whether the consumer of an outcome shares a key with others because too many are new; then it is in overflow_text_.
  [[nodiscard]] bool shares_key(const BoundLimit& bound, const Outcome& outcome, bool gives_back);
  void add_live(std::size_t i) {
    if (live_.size() == match::most_limits) too_many_ = true;
    if (!too_many_) live_.push_back(static_cast<std::uint32_t>(i));
  }
  void step();

  void ask_live();
  void read_live();
  void read_paths(const store::Group& group);
  void read_blocks_of_live(const store::Group& group);
  void conclude_live();
  [[nodiscard]] bool drop_full_quotas();
  void ask_warning();
  void read_warning();
  void ask_penalties();
  void read_penalties();
  void read_blocks();
  void conclude(bool admits);
  [[nodiscard]] Verdict store_away_verdict() const noexcept;
  void read_reset();
  void finish();
  void fill_statuses();

  // evaluation_followers.cpp
  [[nodiscard]] bool is_charged_unasked(std::size_t i, bool admits) const noexcept;
  void ask_followers(bool admits);
  void follow(std::size_t i, FollowerKind kind, store::Operation operation);
  void read_followers();
  void read_charge(std::size_t i, const store::Group& group);
  void give_back(std::size_t i, FollowerKind kind, const store::Group& looked);
  void charge_shadow(std::size_t i, const store::Group& asked);
  void read_corrections();
  void tell_given_back();

  // evaluation_receipts.cpp
  void prepare_receipts();
  [[nodiscard]] core::ReceiptUse* use_of(std::size_t i, const store::States& states, const core::Rule& rule);
  void add_receipt_check(store::Group& group, const store::States& states, std::size_t part, core::ReceiptUse& use);
  template <class Filter>
  void write_receipt(Filter is_part);
  [[nodiscard]] std::optional<std::uint32_t> lacking_receipt() const noexcept;
  void read_report();
  void read_receipt();
  void tell_receipts();

  // Of a query.
  [[nodiscard]] const BoundLimit& limit_of(std::size_t i) const noexcept {
    return bindings_->limits()[outcomes_[i].limit];
  }
  [[nodiscard]] bool is_denied_outright() const noexcept {
    return !is_descriptors_ && matched.denied_by != match::no_limit;
  }
  // A limit of a query that is open or closed while the store is away has nothing to say then.
  [[nodiscard]] bool is_left_out(std::size_t i) const noexcept {
    return by_share_ && !is_descriptors_ && parts_[i].states->on_failure != store::OnFailure::share;
  }
  [[nodiscard]] bool is_shadow(std::size_t i) const noexcept { return outcomes_[i].standing == Standing::shadow; }
  [[nodiscard]] std::string_view consumer_text(std::size_t i) const noexcept;
  [[nodiscard]] LiveOutcomes live_outcomes() const noexcept { return {outcomes_, live_}; }
  [[nodiscard]] bool is_report() const noexcept {
    return options_.receipts != nullptr && options_.receipts->what == ReceiptAsk::What::report;
  }
  // A query whose cost is given back.
  [[nodiscard]] bool is_give_back() const noexcept {
    return options_.receipts != nullptr && options_.receipts->what == ReceiptAsk::What::give_back;
  }
  [[nodiscard]] store::Operation operation(bool charges) const noexcept {
    if (is_report()) return store::Operation::report;
    return charges && !options_.peek ? store::Operation::decide : store::Operation::look;
  }
  // Of a later step: what decided the first one decides all.
  [[nodiscard]] store::Fallback later(store::Fallback if_the_store_did) const noexcept {
    return by_share_ ? store::Fallback::at_once : if_the_store_did;
  }
  void trim_checks();
  store::Group& new_group(store::Operation operation, store::Fallback fallback);
  store::Check& add_check(store::Group& group, std::size_t i, const store::States& states, const core::Rule& rule,
                          Cost cost);
  // The consumer where occasions are counted, not costs.
  store::Check& add_once(store::Group& group, std::size_t i, const store::States& states) {
    return add_check(group, i, states, states.rule, Cost{1});
  }

  EvaluationOwner& owner_;
  store::Store& store_;
  StorePaths* const paths_;

  const Bindings* bindings_ = nullptr;
  Options options_;
  Instant now_{};
  Stage stage_ = Stage::live;
  bool over_ = false;
  bool advancing_ = false;
  bool is_descriptors_ = false;
  bool is_known_domain_ = true;
  bool charges_denied_ = false;  // as policy::Domain has it
  bool has_followers_ = false;

  std::vector<store::Group> groups_;  // only grows; those in use come first
  std::size_t used_ = 0;
  std::size_t checks_used_ = 0;  // of the last group
  std::size_t pending_ = 0;
  std::optional<store::Deadline> deadline_;  // of all steps together
  bool by_share_ = false;                    // the store being away, for this reason:
  store::Failure failure_ = store::Failure::none;

  std::vector<Outcome> outcomes_;
  std::vector<Part> parts_;              // of the outcomes
  std::string consumer_texts_;           // of a query's limits, as a shared store calls the consumers
  std::string overflow_text_;            // see shares_key
  std::vector<std::uint32_t> live_;      // which outcomes are live limits that were asked
  std::vector<std::uint32_t> subjects_;  // which outcomes the guards or groups of this step belong to
  std::vector<Follower> followers_;
  std::vector<Correction> corrections_;
  Deniers deniers_;
  std::size_t quotas_ = 0;
  std::size_t full_quotas_ = 0;
  std::optional<std::uint32_t> closed_;  // the first limit that is closed, the store being away
  bool banned_ = false;                  // by a descriptor with nothing per unit
  bool opened_ = false;                  // a limit was not asked, the store being away
  bool too_many_ = false;
  bool blocked_ = false;
  bool quota_was_closed_ = false;
  Reason reason_ = Reason::uncovered;
  Verdict verdict_;

  std::vector<core::ReceiptUse> uses_;  // of the outcomes, then of their candidates; of a receipt, see use_parts_
  std::vector<std::size_t> use_parts_;  // of a receipt: which of its parts a use is of, but for those of candidates
  core::ReceiptId receipt_id_{};
  Receipt receipt_;
  const Receipt* settled_ = nullptr;
  std::vector<ReceiptOutcome> receipt_outcomes_;

  MatchedDescriptors descriptors_;
  std::vector<DescriptorStatus> statuses_;
  Reset reset_ = Reset::done;
  store::Holdings holdings_;
};

}  // namespace weir::engine
