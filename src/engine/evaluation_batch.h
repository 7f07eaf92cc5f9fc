// Requests that are evaluated together: all that one read of a connection brought, for example. They are evaluated as
// they would be one after the other.
//
//   EvaluationBatchPtr batch = evaluator.new_batch();
//   batch->add(query); ...                    // what they view stays until the batch is done, or let go
//   if (!batch->submit()) batch->on_done([...] { ... });
//   ...
//   answer(batch->verdict(0), batch->bindings());  // when it is done
//
// On a store of this process's own submit() always has it done. Verdicts and their views are good until clear(), over
// reloads. What is in flight when a reload comes is decided by the old policy, and not counted.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/algorithm/buckets.h"
#include "engine/bindings.h"
#include "engine/descriptors_evaluation.h"
#include "engine/evaluation.h"
#include "engine/query_evaluation.h"
#include "engine/receipt_evaluation.h"
#include "engine/reset_evaluation.h"
#include "engine/verdict.h"
#include "match/descriptors.h"
#include "match/named.h"
#include "store/store.h"
#include "weir/query.h"
#include "weir/result.h"
#include "weir/time.h"

namespace weir::engine {

class Evaluator;

// What may be asked.
using match::DescriptorName;
using match::DescriptorQuery;
using match::NamedQuery;
using weir::DescriptorEntry;
using weir::Query;

class EvaluationBatch final : private store::Callback {
 public:
  explicit EvaluationBatch(Evaluator& evaluator) noexcept : evaluator_(evaluator) {}
  virtual ~EvaluationBatch() = default;
  EvaluationBatch(const EvaluationBatch&) = delete;
  EvaluationBatch& operator=(const EvaluationBatch&) = delete;

  // Not while it is in flight.
  void clear() noexcept;

  // Each gets the next number, from zero.
  void add(const Query& query) { new_item(Kind::query).set(query); }
  void add(const NamedQuery& ask) { new_item(Kind::named).set(ask); }
  // The same with receipts: to reserve, to hold, to report, or to give back.
  void add(const Query& query, const ReceiptAsk& receipts) {
    new_item(receipts.decides() ? Kind::query : Kind::report, receipts).set(query);
  }
  void add(const NamedQuery& ask, const ReceiptAsk& receipts) {
    new_item(receipts.decides() ? Kind::named : Kind::report_named, receipts).set(ask);
  }
  // To settle, release or extend.
  void add(const ReceiptParts& receipt, const ReceiptAsk& ask) { new_item(Kind::receipt, ask).receipt = receipt; }
  // All or nothing.
  void add(std::string_view domain, std::span<const DescriptorQuery> asks) {
    new_item(Kind::descriptors).set(domain, asks);
  }
  void add_look(std::string_view domain, std::span<const DescriptorQuery> asks) {
    new_item(Kind::descriptors).set(domain, asks).peek = true;
  }
  // With holdings().
  void add_look(std::string_view domain, const DescriptorQuery& ask) {
    AskOptions& options = new_item(Kind::descriptors).set(domain, {&ask, 1});
    options.peek = options.wants_holdings = true;
  }
  // Charges without asking.
  void add_report(std::string_view domain, std::span<const DescriptorQuery> asks) {
    new_item(Kind::descriptors, {.what = ReceiptAsk::What::report}).set(domain, asks);
  }
  void add_reset(const NamedQuery& ask) { new_item(Kind::reset).named = ask; }
  void add_reset(const DescriptorName& name) { new_item(Kind::reset_descriptor).descriptor = name; }
  // CL.THROTTLE: `hash` is that of the key, as the throttle's table has it. They are numbered by themselves.
  void add_throttle(table::KeyHash hash, std::string_view key, const core::Gcra::Limit& limit, Cost quantity);

  // True if it is done. Otherwise, and only then, who waits is told when it is.
  [[nodiscard]] bool submit();
  // The same at a given time, or at one for each, none before the one before it: for traffic of the past.
  [[nodiscard]] bool submit(Instant now) { return submit(now, {}); }
  [[nodiscard]] bool submit(std::span<const Instant> times) {
    return submit(times.empty() ? Instant{} : times.back(), times);
  }
  void on_done(std::function<void()> told) { told_ = std::move(told); }
  [[nodiscard]] bool in_flight() const noexcept { return open_ > 0; }

  // When it is done.
  [[nodiscard]] const Bindings& bindings() const noexcept { return *bindings_; }
  [[nodiscard]] std::size_t size() const noexcept { return used_; }  // but for CL.THROTTLE
  [[nodiscard]] std::size_t throttles() const noexcept { return throttles_used_; }
  enum class Kind : std::uint8_t {
    query,
    named,
    descriptors,
    reset,
    reset_descriptor,
    report,        // as a query, or given back
    report_named,  // by name
    receipt,       // settled, released or extended
  };
  [[nodiscard]] Kind kind(std::size_t i) const noexcept { return items_[i]->kind; }
  // As it was added.
  [[nodiscard]] const Query& query(std::size_t i) const noexcept { return items_[i]->query; }
  [[nodiscard]] const NamedQuery& named(std::size_t i) const noexcept { return items_[i]->named; }
  [[nodiscard]] std::string_view domain(std::size_t i) const noexcept { return items_[i]->domain; }
  [[nodiscard]] std::span<const DescriptorQuery> asks(std::size_t i) const noexcept { return items_[i]->asks; }
  // Why it could not be evaluated, or, of a reset, done; null: it was.
  [[nodiscard]] const Error* error(std::size_t i) const noexcept {
    return items_[i]->error ? &*items_[i]->error : nullptr;
  }
  [[nodiscard]] const Verdict& verdict(std::size_t i) const noexcept { return result(i).verdict; }
  // Of a query or a question by name: the limits that were matched, with the caller and the keys of the consumers.
  [[nodiscard]] const match::Matched& matched(std::size_t i) const noexcept { return items_[i]->by_query.matched; }
  // The consumer of a question by name or of a reset, as consumer.h writes it.
  [[nodiscard]] std::string_view consumer(std::size_t i) const noexcept {
    const bool is_named = items_[i]->kind == Kind::named || items_[i]->kind == Kind::report_named;
    return is_named ? std::string_view(matched(i).keys) : std::string_view(items_[i]->consumer);
  }
  // Of descriptors: one for each.
  [[nodiscard]] std::span<const DescriptorStatus> statuses(std::size_t i) const noexcept {
    return items_[i]->by_descriptors.statuses();
  }
  // True if the policy has their domain.
  [[nodiscard]] bool is_known_domain(std::size_t i) const noexcept {
    return items_[i]->by_descriptors.is_known_domain();
  }
  // EvaluationResult says what these are. Null: no receipt was opened.
  [[nodiscard]] const store::Holdings& holdings(std::size_t i) const noexcept { return result(i).holdings; }
  [[nodiscard]] const ReceiptParts* receipt(std::size_t i) const noexcept {
    return result(i).receipt.parts.empty() ? nullptr : &result(i).receipt;
  }
  [[nodiscard]] std::span<const ReceiptOutcome> receipt_outcomes(std::size_t i) const noexcept {
    return result(i).receipt_outcomes;
  }
  // As it was added; of what has nothing to do with receipts, the default.
  [[nodiscard]] const ReceiptAsk& receipt_ask(std::size_t i) const noexcept { return items_[i]->receipt_ask; }
  [[nodiscard]] const Decision& throttle(std::size_t i) const noexcept {
    return throttles_[i]->group.checks[0].decision;
  }

 private:
  friend class Evaluation;
  friend class Evaluator;
  friend struct ReleaseEvaluationBatch;

  struct Item {
    explicit Item(EvaluationBatch& batch) noexcept
        : by_query(batch), by_descriptors(batch), by_receipt(batch), by_reset(batch) {}

    void set(const Query& asked);
    void set(const NamedQuery& asked);
    AskOptions& set(std::string_view asked_domain, std::span<const DescriptorQuery> asked) {
      domain = asked_domain;
      asks = asked;
      return options;
    }

    Kind kind = Kind::query;
    Query query;
    NamedQuery named;
    DescriptorName descriptor;
    std::string_view domain;
    std::span<const DescriptorQuery> asks;
    AskOptions options;
    ReceiptAsk receipt_ask;
    ReceiptParts receipt;  // that is settled, released or extended
    std::optional<Error> error;
    std::string consumer;  // of a reset
    // Which of them evaluates it. All keep their memory for the next request.
    QueryEvaluation by_query;
    DescriptorsEvaluation by_descriptors;
    ReceiptEvaluation by_receipt;
    ResetEvaluation by_reset;
    Evaluation* evaluation = &by_query;
  };
  struct Throttle {
    explicit Throttle(EvaluationBatch& batch);

    core::Rule rule{core::RuleOf<core::Gcra>{}};
    core::Gcra::Limit& limit = std::get<core::RuleOf<core::Gcra>>(rule).limit;
    std::string_view key;
    store::Group group;
  };
  // In the order of their coming.
  struct Entry {
    bool is_throttle;
    std::uint32_t number;
  };

  [[nodiscard]] const EvaluationResult& result(std::size_t i) const noexcept {
    return std::as_const(*items_[i]->evaluation).result();
  }
  [[nodiscard]] Item& new_item(Kind kind);
  [[nodiscard]] Item& new_item(Kind kind, const ReceiptAsk& ask);
  [[nodiscard]] bool submit(Instant now, std::span<const Instant> times);
  void begin(Throttle& throttle, Instant now);
  void begin(Item& item, Instant now);
  void begin_named(Item& item, Instant now);
  void begin_reset(Item& item, Instant now);
  void begin_descriptor_reset(Item& item, Instant now);
  void flush();
  // Called by an evaluation when all groups of a step are answered.
  void on_answered(Evaluation& evaluation);
  void on_finished() noexcept { --open_; }
  // Of CL.THROTTLE.
  void answered(store::Group& group) override;
  void tell();
  void conclude(Instant now);
  void finish(Item& item, bool counts, Instant now);
  void release() noexcept;

  Evaluator& evaluator_;
  std::shared_ptr<const Bindings> bindings_;
  std::vector<std::unique_ptr<Item>> items_;  // only grow; those in use come first
  std::size_t used_ = 0;
  std::vector<std::unique_ptr<Throttle>> throttles_;  // the same
  std::size_t throttles_used_ = 0;
  std::vector<Entry> order_;
  std::vector<store::Group*> to_submit_;
  std::size_t open_ = 0;
  bool submitting_ = false;
  bool abandoned_ = false;
  std::chrono::nanoseconds begun_{};
  std::function<void()> told_;
};

// Lets go of a batch: one that is in flight ends without telling anybody, and touches nothing of who had it.
struct ReleaseEvaluationBatch {
  void operator()(EvaluationBatch* batch) const noexcept { batch->release(); }
};
using EvaluationBatchPtr = std::unique_ptr<EvaluationBatch, ReleaseEvaluationBatch>;

// Who sees what an evaluator decides: for metrics and logs. Called on the evaluator's thread, under its hold.
class Observer {
 public:
  Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  virtual ~Observer() = default;

  // The evaluator goes on by this policy. Under its hold too, but on the thread that reloads.
  virtual void entered(const Bindings& /*bindings*/) {}

  // A batch is about to be evaluated. What it gives comes back when it is done.
  virtual std::chrono::nanoseconds begin() { return {}; }
  // It is done; looks and errors are among it.
  virtual void evaluated(const EvaluationBatch& batch, std::chrono::nanoseconds begun, Instant now) = 0;
};

}  // namespace weir::engine
