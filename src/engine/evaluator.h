// Evaluates queries. One evaluator per thread; all evaluators of an engine share its states. On a local store, nothing
// is allocated in the steady state.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/object_pool.h"
#include "engine/bindings.h"
#include "engine/counters.h"
#include "engine/evaluation_batch.h"
#include "match/matcher.h"
#include "match/named.h"
#include "store/local/local_store.h"
#include "store/local/throttle_table.h"
#include "store/store.h"
#include "weir/clock.h"
#include "weir/query.h"
#include "weir/result.h"
#include "weir/time.h"

namespace weir::engine {

class Engine;

// The objects that these point to must outlive the evaluator.
struct EvaluatorOptions {
  Observer* observer = nullptr;              // null: none
  store::Store* store = nullptr;             // null: its own LocalStore
  const Clock* clock = nullptr;              // null: submit() must be called with a time
  store::ThrottleTable* throttle = nullptr;  // null: there is no CL.THROTTLE
};

class Evaluator {
 public:
  ~Evaluator();
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  // Blocks reloads. Lock briefly: a reload waits for it.
  using Lock = std::unique_lock<std::recursive_mutex>;
  [[nodiscard]] Lock lock() { return Lock(busy_); }
  [[nodiscard]] Lock try_lock() { return Lock(busy_, std::try_to_lock); }

  // True if other processes share the states.
  [[nodiscard]] bool is_shared() const noexcept { return is_shared_; }

  [[nodiscard]] EvaluationBatchPtr new_batch();

  // Returns the hash of a key for CL.THROTTLE, and prefetches its state.
  [[nodiscard]] table::KeyHash seek_throttle(std::string_view key) const noexcept {
    return throttle_.throttle->seek(key);
  }

  // These require a store that answers at once. The views in a verdict are valid until the next call.
  [[nodiscard]] Verdict evaluate(const Query& query, Instant now);
  void evaluate(std::span<const Query> queries, Instant now, std::span<Verdict> verdicts);
  void evaluate(std::span<const Query> queries, std::span<const Instant> times, std::span<Verdict> verdicts);
  [[nodiscard]] Result<Verdict> evaluate(const NamedQuery& ask, Instant now);
  // True if all descriptors admit. `statuses` must have the size of `asks`.
  [[nodiscard]] bool evaluate(std::string_view domain, std::span<const DescriptorQuery> asks, Instant now,
                              std::span<DescriptorStatus> statuses);
  Result<void> reset(const NamedQuery& ask, Instant now);
  Result<void> reset(const DescriptorName& name, Instant now);

  // Requires lock(), unless no other thread reloads.
  [[nodiscard]] const Bindings& bindings() const noexcept { return *bindings_; }

 private:
  friend class Engine;
  friend class Evaluation;
  friend class EvaluationBatch;

  // The number of requests that are matched before their groups go to the store, so that their states are prefetched.
  static constexpr std::size_t ahead = 16;

  Evaluator(Engine& engine, std::shared_ptr<const Bindings> bindings, const EvaluatorOptions& options);
  // Requires busy_, except in the constructor.
  void set_bindings(std::shared_ptr<const Bindings> bindings);
  void count_undecided(Reason reason) noexcept;
  void count(const match::Matched& matched, const Verdict& verdict, Instant now) noexcept;
  // `used` is the usage of the call; none if it neither reserves nor reports.
  void count_usage(const Verdict& verdict, std::optional<policy::Usage> used) noexcept;
  void count_descriptors(const Verdict& verdict, std::span<const DescriptorStatus> statuses) noexcept;
  void put_back(EvaluationBatch* batch) noexcept;
  [[nodiscard]] EvaluationBatch& own_batch();  // returns own_, cleared

  Engine& engine_;
  store::LocalStore local_;
  store::Store& store_;
  Observer* const observer_;
  const Clock* const clock_;
  const bool is_shared_;
  store::States throttle_;

  // Locked while evaluating: a reload waits for the current requests, and evaluators never wait for each other.
  std::recursive_mutex busy_;
  std::shared_ptr<const Bindings> bindings_;
  std::unique_ptr<Counters> counters_;
  StorePaths paths_;
  std::optional<match::MatchScratch> scratch_;
  base::IdleObjects<EvaluationBatch, 64> spare_;
  EvaluationBatchPtr own_;  // for evaluate() and reset()
};

}  // namespace weir::engine
