// Requests that are evaluated together, such as all requests of one read from a connection. The results are the same as
// if they were evaluated one after the other.
//
//   EvaluationBatchPtr batch = evaluator.new_batch();
//   batch->add(query); ...                    // views in a query must stay valid until the batch is done or released
//   if (!batch->submit()) batch->on_done([...] { ... });
//   ...
//   answer(batch->verdict(0), batch->bindings());  // when it is done
//
// On a local store submit() always finishes the batch. Verdicts and their views stay valid until clear(), even across
// reloads. A batch in flight during a reload is decided by the old policy and not counted.
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

  // Must not be called while the batch is in flight.
  void clear() noexcept;

  // Requests are numbered from zero.
  void add(const Query& query) { new_item(Kind::query).set(query); }
  void add(const NamedQuery& ask) { new_item(Kind::named).set(ask); }
  // Reserves, holds, reports or gives back.
  void add(const Query& query, const ReceiptRequest& receipts) {
    new_item(receipts.decides() ? Kind::query : Kind::report, receipts).set(query);
  }
  void add(const NamedQuery& ask, const ReceiptRequest& receipts) {
    new_item(receipts.decides() ? Kind::named : Kind::report_named, receipts).set(ask);
  }
  // Settles, releases or extends.
  void add(const ReceiptParts& receipt, const ReceiptRequest& ask) { new_item(Kind::receipt, ask).receipt = receipt; }
  void add(std::string_view domain, std::span<const DescriptorQuery> asks) {
    new_item(Kind::descriptors).set(domain, asks);
  }
  void add_peek(std::string_view domain, std::span<const DescriptorQuery> asks) {
    new_item(Kind::descriptors).set(domain, asks).peek = true;
  }
  // Sets holdings() too.
  void add_peek(std::string_view domain, const DescriptorQuery& ask) {
    EvaluationOptions& options = new_item(Kind::descriptors).set(domain, {&ask, 1});
    options.peek = options.wants_holdings = true;
  }
  // Charges unconditionally.
  void add_report(std::string_view domain, std::span<const DescriptorQuery> asks) {
    new_item(Kind::descriptors, {.action = ReceiptRequest::Action::report}).set(domain, asks);
  }
  void add_reset(const NamedQuery& ask) { new_item(Kind::reset).named = ask; }
  void add_reset(const DescriptorName& name) { new_item(Kind::reset_descriptor).descriptor = name; }
  // CL.THROTTLE. `hash` is the key's hash in the throttle's table. Throttles are numbered separately.
  void add_throttle(table::KeyHash hash, std::string_view key, const core::Gcra::Limit& limit, Cost quantity);

  // True if the batch is done. If false, the on_done callback is called later.
  [[nodiscard]] bool submit();
  // Evaluates at `now`, or each request at its own time. `times` must not decrease.
  [[nodiscard]] bool submit(Instant now) { return submit(now, {}); }
  [[nodiscard]] bool submit(std::span<const Instant> times) {
    return submit(times.empty() ? Instant{} : times.back(), times);
  }
  void on_done(std::function<void()> callback) { on_done_ = std::move(callback); }
  [[nodiscard]] bool in_flight() const noexcept { return open_ > 0; }

  // --- results, valid when the batch is done

  [[nodiscard]] const Bindings& bindings() const noexcept { return *bindings_; }
  [[nodiscard]] std::size_t size() const noexcept { return used_; }  // without throttles
  [[nodiscard]] std::size_t throttles() const noexcept { return throttles_used_; }
  enum class Kind : std::uint8_t {
    query,
    named,
    descriptors,
    reset,
    reset_descriptor,
    report,        // reports or gives back by query
    report_named,  // reports or gives back by name
    receipt,       // settles, releases or extends
  };
  [[nodiscard]] Kind kind(std::size_t i) const noexcept { return items_[i]->kind; }
  // The request as it was added.
  [[nodiscard]] const Query& query(std::size_t i) const noexcept { return items_[i]->query; }
  [[nodiscard]] const NamedQuery& named(std::size_t i) const noexcept { return items_[i]->named; }
  [[nodiscard]] std::string_view domain(std::size_t i) const noexcept { return items_[i]->domain; }
  [[nodiscard]] std::span<const DescriptorQuery> asks(std::size_t i) const noexcept { return items_[i]->asks; }
  // Null if the request was evaluated, or the reset done.
  [[nodiscard]] const Error* error(std::size_t i) const noexcept {
    return items_[i]->error ? &*items_[i]->error : nullptr;
  }
  [[nodiscard]] const Verdict& verdict(std::size_t i) const noexcept { return result(i).verdict; }
  // The limits that a query or a named query matched, with the caller and the keys of the consumers.
  [[nodiscard]] const match::Matched& matched(std::size_t i) const noexcept { return items_[i]->by_query.matched; }
  // The consumer of a named query or of a reset, in the form of match/consumer.h.
  [[nodiscard]] std::string_view consumer(std::size_t i) const noexcept {
    const bool is_named = items_[i]->kind == Kind::named || items_[i]->kind == Kind::report_named;
    return is_named ? std::string_view(matched(i).keys) : std::string_view(items_[i]->consumer);
  }
  // One for each descriptor.
  [[nodiscard]] std::span<const DescriptorStatus> statuses(std::size_t i) const noexcept {
    return items_[i]->by_descriptors.statuses();
  }
  [[nodiscard]] bool is_known_domain(std::size_t i) const noexcept {
    return items_[i]->by_descriptors.is_known_domain();
  }
  // See EvaluationResult. The receipt is null if none was opened.
  [[nodiscard]] const store::Holdings& holdings(std::size_t i) const noexcept { return result(i).holdings; }
  [[nodiscard]] const ReceiptParts* receipt(std::size_t i) const noexcept {
    return result(i).receipt.parts.empty() ? nullptr : &result(i).receipt;
  }
  [[nodiscard]] std::span<const ReceiptOutcome> receipt_outcomes(std::size_t i) const noexcept {
    return result(i).receipt_outcomes;
  }
  // The ReceiptRequest as it was added; the default if there was none.
  [[nodiscard]] const ReceiptRequest& receipt_request(std::size_t i) const noexcept {
    return items_[i]->receipt_request;
  }
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
    EvaluationOptions& set(std::string_view asked_domain, std::span<const DescriptorQuery> asked) {
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
    EvaluationOptions options;
    ReceiptRequest receipt_request;
    ReceiptParts receipt;  // the receipt to settle, release or extend
    std::optional<Error> error;
    std::string consumer;  // the consumer of a reset
    // `evaluation` points to the member in use. All members keep their memory for the next request.
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
  // Items and throttles in the order in which they were added.
  struct Entry {
    bool is_throttle;
    std::uint32_t number;
  };

  [[nodiscard]] const EvaluationResult& result(std::size_t i) const noexcept {
    return std::as_const(*items_[i]->evaluation).result();
  }
  [[nodiscard]] Item& new_item(Kind kind);
  [[nodiscard]] Item& new_item(Kind kind, const ReceiptRequest& ask);
  [[nodiscard]] bool submit(Instant now, std::span<const Instant> times);
  void begin(Throttle& throttle, Instant now);
  void begin(Item& item, Instant now);
  void begin_named(Item& item, Instant now);
  void begin_reset(Item& item, Instant now);
  void begin_descriptor_reset(Item& item, Instant now);
  void flush();
  [[nodiscard]] match::ExceptionsAt exceptions_for(const Item& item, Instant now) const noexcept;
  // Called by an evaluation when all groups of a step are answered.
  void on_answered(Evaluation& evaluation);
  void on_finished() noexcept { --open_; }
  // Called by the store for a throttle.
  void answered(store::Group& group) override;
  void notify();
  void conclude(Instant now);
  void finish(Item& item, bool counts, Instant now);
  void release() noexcept;

  Evaluator& evaluator_;
  std::shared_ptr<const Bindings> bindings_;
  std::vector<std::unique_ptr<Item>> items_;  // only grows; those in use come first
  std::size_t used_ = 0;
  std::vector<std::unique_ptr<Throttle>> throttles_;  // only grows; those in use come first
  std::size_t throttles_used_ = 0;
  std::vector<Entry> order_;
  std::vector<store::Group*> to_submit_;
  std::size_t open_ = 0;
  bool submitting_ = false;
  bool abandoned_ = false;
  std::chrono::nanoseconds started_{};
  std::function<void()> on_done_;
};

// Releases a batch. One in flight finishes without calling on_done, and no longer accesses its queries.
struct ReleaseEvaluationBatch {
  void operator()(EvaluationBatch* batch) const noexcept { batch->release(); }
};
using EvaluationBatchPtr = std::unique_ptr<EvaluationBatch, ReleaseEvaluationBatch>;

// Observes the decisions of an evaluator, for metrics and logs. Called on the evaluator's thread, under its lock.
class Observer {
 public:
  Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  virtual ~Observer() = default;

  // Called at the start and after each reload, under the lock too, but on the thread that reloads.
  virtual void bindings_changed(const Bindings& /*bindings*/) {}

  // Called before a batch is evaluated. The result is passed to evaluated() as `started`.
  virtual std::chrono::nanoseconds begin() { return {}; }
  // Called when a batch is done. The batch includes peeks and errors.
  virtual void evaluated(const EvaluationBatch& batch, std::chrono::nanoseconds started, Instant now) = 0;
};

}  // namespace weir::engine
