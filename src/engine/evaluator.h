// Queries in, verdicts out. One evaluator per thread; all evaluators of an engine share its states.
//
// A batch is evaluated as its requests would be, one after the other. On a store of this process's own nothing is
// allocated in the steady state.
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

// What an evaluator works with; all of it stays longer than it does.
struct EvaluatorOptions {
  Observer* observer = nullptr;              // null: none
  store::Store* store = nullptr;             // null: a LocalStore of its own
  const Clock* clock = nullptr;              // null: who submits says what time it is
  store::ThrottleTable* throttle = nullptr;  // null: there is no CL.THROTTLE
};

class Evaluator {
 public:
  ~Evaluator();
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  // While it is held no reload takes place. Short: a reload waits for it.
  using Hold = std::unique_lock<std::recursive_mutex>;
  [[nodiscard]] Hold hold() { return Hold(busy_); }
  // The same if nobody else holds it; otherwise it owns nothing.
  [[nodiscard]] Hold try_hold() { return Hold(busy_, std::try_to_lock); }

  // Whether other processes share the states.
  [[nodiscard]] bool is_shared() const noexcept { return is_shared_; }

  [[nodiscard]] EvaluationBatchPtr new_batch();

  // The hash of a key for CL.THROTTLE; its state is on its way into the cache then.
  [[nodiscard]] table::KeyHash seek_throttle(std::string_view key) const noexcept {
    return throttle_.throttle->seek(key);
  }

  // On a store that answers at once. The verdict's views are good until the next call.
  [[nodiscard]] Verdict evaluate(const Query& query, Instant now);
  void evaluate(std::span<const Query> queries, Instant now, std::span<Verdict> verdicts);
  void evaluate(std::span<const Query> queries, std::span<const Instant> times, std::span<Verdict> verdicts);
  [[nodiscard]] Result<Verdict> evaluate(const NamedQuery& ask, Instant now);
  // True if all of the descriptors admit; `statuses` has their number.
  [[nodiscard]] bool evaluate(std::string_view domain, std::span<const DescriptorQuery> asks, Instant now,
                              std::span<DescriptorStatus> statuses);
  Result<void> reset(const NamedQuery& ask, Instant now);
  Result<void> reset(const DescriptorName& name, Instant now);

  // Under hold(), or on the thread of the evaluator where no other reloads.
  [[nodiscard]] const Bindings& bindings() const noexcept { return *bindings_; }

 private:
  friend class Engine;
  friend class Evaluation;
  friend class EvaluationBatch;

  // How many requests are matched before their groups go to the store, so that their states are on the way when they
  // are decided.
  static constexpr std::size_t ahead = 16;

  Evaluator(Engine& engine, std::shared_ptr<const Bindings> bindings, const EvaluatorOptions& options);
  // By the engine, which holds busy_.
  void enter(std::shared_ptr<const Bindings> bindings);
  void count(const match::Matched& matched, const Verdict& verdict, Instant now) noexcept;
  // `used`: the way in which the call charges, if it is one of them.
  void count_usage(const Verdict& verdict, std::optional<policy::Usage> used) noexcept;
  void count_descriptors(const Verdict& verdict, std::span<const DescriptorStatus> statuses) noexcept;
  void put_back(EvaluationBatch* batch) noexcept;
  [[nodiscard]] EvaluationBatch& own_batch();  // cleared

  Engine& engine_;
  store::LocalStore local_;
  store::Store& store_;
  Observer* const observer_;
  const Clock* const clock_;
  const bool is_shared_;
  store::States throttle_;

  // Held while evaluating: a reload waits for the requests in hand, and they never wait for each other.
  std::recursive_mutex busy_;
  std::shared_ptr<const Bindings> bindings_;
  std::unique_ptr<Counters> counters_;
  StorePaths paths_;
  std::optional<match::MatchScratch> scratch_;
  base::IdleObjects<EvaluationBatch, 64> spare_;
  EvaluationBatchPtr own_;  // of evaluate()
};

}  // namespace weir::engine
