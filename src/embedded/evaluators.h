// The evaluators that the threads of a program share. Each is used by one thread at a time. A thread prefers the same
// evaluator, so contention is rare. Thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>

#include "engine/engine.h"
#include "engine/evaluation_batch.h"
#include "engine/evaluator.h"
#include "match/matcher.h"

namespace weir::embedded {

class Evaluators {
 public:
  static constexpr std::size_t max_slots = 64;

  struct Slot {
    explicit Slot(engine::Engine& engine) : evaluator(engine.new_evaluator()) {}

    std::unique_ptr<engine::Evaluator> evaluator;
    engine::EvaluationBatchPtr batch;  // created when first needed
    // Copied by the verdicts of this slot. Its reference count is separate, so that threads do not contend for it.
    std::shared_ptr<const match::Matcher> names;
  };

  // Exclusive use of one evaluator for a call. A reload waits for it.
  class Use {
   public:
    Use(Slot& slot, engine::Evaluator::Lock lock) noexcept : slot_(slot), lock_(std::move(lock)) {}

    // Returns an empty batch.
    [[nodiscard]] engine::EvaluationBatch& batch();
    // Owns the names that the verdicts of the finished batch refer to.
    [[nodiscard]] const std::shared_ptr<const match::Matcher>& names();
    // Must be called if an exception interrupted the batch, because the batch cannot be used again.
    void drop_batch() noexcept { delete slot_.batch.release(); }

   private:
    Slot& slot_;
    engine::Evaluator::Lock lock_;
  };

  // `engine` must outlive this object.
  explicit Evaluators(engine::Engine& engine);
  ~Evaluators();
  Evaluators(const Evaluators&) = delete;
  Evaluators& operator=(const Evaluators&) = delete;

  [[nodiscard]] Use take();

 private:
  [[nodiscard]] Slot& slot(std::size_t number);

  engine::Engine& engine_;
  const std::size_t count_;  // number of usable slots: one for each hardware thread
  std::mutex mutex_;
  std::array<std::atomic<Slot*>, max_slots> slots_{};  // owned; created by the first thread that needs one
};

}  // namespace weir::embedded
