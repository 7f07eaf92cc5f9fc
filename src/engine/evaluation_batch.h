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
#include <variant>
#include <vector>

#include "core/algorithm/buckets.h"
#include "engine/bindings.h"
#include "engine/evaluation.h"
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

class EvaluationBatch final : private EvaluationOwner, private store::Callback {
 public:
  explicit EvaluationBatch(Evaluator& evaluator) noexcept : evaluator_(evaluator) {}
  virtual ~EvaluationBatch() = default;
  EvaluationBatch(const EvaluationBatch&) = delete;
  EvaluationBatch& operator=(const EvaluationBatch&) = delete;

  // Not while it is in flight.
  void clear() noexcept;

  // Each gets the next number, from nought.
  void add(const Query& query);
  void add(const NamedQuery& ask);
  // The same with receipts: to reserve, to hold, to report, or to give back.
  void add(const Query& query, const ReceiptAsk& receipts);
  void add(const NamedQuery& ask, const ReceiptAsk& receipts);
  // To settle, release or extend.
  void add(const Receipt& receipt, const ReceiptAsk& ask);
  void add(std::string_view domain, std::span<const DescriptorQuery> asks);  // all or nothing
  void add_look(std::string_view domain, const DescriptorQuery& ask);        // with holdings()
  void add_look(std::string_view domain, std::span<const DescriptorQuery> asks);
  void add_report(std::string_view domain, std::span<const DescriptorQuery> asks);  // charges without asking
  void add_reset(const NamedQuery& ask);
  void add_reset(const DescriptorName& name);
  // CL.THROTTLE: `hash` is that of the key, as the throttle's table has it. They are numbered by themselves.
  void add_throttle(table::KeyHash hash, std::string_view key, const core::Gcra::Limit& limit, Cost quantity);

  // True if it is done. Otherwise, and only then, who waits is told when it is.
  [[nodiscard]] bool submit();
  // The same at a given time, or at one for each, none before the one before it: for traffic of the past.
  [[nodiscard]] bool submit(Instant now);
  [[nodiscard]] bool submit(std::span<const Instant> times);
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
  [[nodiscard]] const Verdict& verdict(std::size_t i) const noexcept { return items_[i]->evaluation.verdict(); }
  // Of a query or a question by name: the limits that were matched, with the caller and the keys of the consumers.
  [[nodiscard]] const match::Matched& matched(std::size_t i) const noexcept { return items_[i]->evaluation.matched; }
  // The consumer of a question by name or of a reset, as consumer.h writes it.
  [[nodiscard]] std::string_view consumer(std::size_t i) const noexcept {
    const bool is_named = items_[i]->kind == Kind::named || items_[i]->kind == Kind::report_named;
    return is_named ? std::string_view(matched(i).keys) : std::string_view(items_[i]->consumer);
  }
  // Of descriptors: one for each.
  [[nodiscard]] std::span<const DescriptorStatus> statuses(std::size_t i) const noexcept {
    return items_[i]->evaluation.statuses();
  }
  // Of a look that wants them: what the store knows beside. Of a reset: what was out.
  [[nodiscard]] const store::Holdings& holdings(std::size_t i) const noexcept {
    return items_[i]->evaluation.holdings();
  }
  // Of a reserve: what it opened; null: nothing.
  [[nodiscard]] const Receipt* receipt(std::size_t i) const noexcept { return items_[i]->evaluation.receipt(); }
  // What came of receipts, for each limit; see Evaluation::receipt_outcomes.
  [[nodiscard]] std::span<const ReceiptOutcome> receipt_outcomes(std::size_t i) const noexcept {
    return items_[i]->evaluation.receipt_outcomes();
  }
  // As it was added; of what has nothing to do with receipts, the default.
  [[nodiscard]] const ReceiptAsk& receipt_ask(std::size_t i) const noexcept { return items_[i]->receipt_ask; }
  // Whether the policy has their domain.
  [[nodiscard]] bool is_known_domain(std::size_t i) const noexcept { return items_[i]->evaluation.is_known_domain(); }
  [[nodiscard]] const Decision& throttle(std::size_t i) const noexcept {
    return throttles_[i]->group.checks[0].decision;
  }

 private:
  friend class Evaluator;
  friend struct ReleaseEvaluationBatch;

  struct Item {
    explicit Item(EvaluationBatch& batch);

    Kind kind = Kind::query;
    Query query;
    NamedQuery named;
    DescriptorName descriptor;
    std::string_view domain;
    std::span<const DescriptorQuery> asks;
    bool looks = false;  // at descriptors
    bool wants_holdings = false;
    bool uses_receipts = false;  // as receipt_ask says
    ReceiptAsk receipt_ask;
    Receipt receipt;  // that is settled, released or extended
    std::optional<Error> error;
    std::string consumer;  // of a reset
    Evaluation evaluation;
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

  [[nodiscard]] Item& new_item(Kind kind);
  [[nodiscard]] bool submit(Instant now, std::span<const Instant> times);
  void begin(Throttle& throttle, Instant now);
  void begin(Item& item, Instant now);
  void begin_query(Item& item, Instant now);
  void begin_named(Item& item, Instant now);
  void begin_reset(Item& item, Instant now);
  void begin_descriptor_reset(Item& item, Instant now);
  void flush();
  void on_answered(Evaluation& evaluation) override;
  void on_finished(Evaluation& evaluation) override;
  void answered(store::Group& group) override;
  void tell();
  void conclude(Instant now);
  void finish(Item& item, bool counts, Instant now);
  [[nodiscard]] static std::optional<Error> error_of(Evaluation::Reset reset);
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
