// The evaluators that the threads of a program share. Each is used by one thread at a time; a thread returns to the
// same one, so that threads seldom meet.
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
  static constexpr std::size_t most = 64;

  struct Place {
    explicit Place(engine::Engine& engine) : evaluator(engine.new_evaluator()) {}

    std::unique_ptr<engine::Evaluator> evaluator;
    engine::EvaluationBatchPtr batch;  // none: it is made when it is needed
    // What the verdicts of this place hold, with a count of its own: threads must not share one.
    std::shared_ptr<const match::Matcher> names;
  };

  // One evaluator, for the time of a call. A reload waits for it.
  class Use {
   public:
    Use(Place& place, engine::Evaluator::Hold hold) noexcept : place_(place), hold_(std::move(hold)) {}

    // Empty.
    [[nodiscard]] engine::EvaluationBatch& batch();
    // When the batch is done: what names in its verdicts are views of.
    [[nodiscard]] const std::shared_ptr<const match::Matcher>& names();
    // The batch was cut short by an exception, and is of no use any more.
    void drop_batch() noexcept { delete place_.batch.release(); }

   private:
    Place& place_;
    engine::Evaluator::Hold hold_;
  };

  // The engine stays longer.
  explicit Evaluators(engine::Engine& engine);
  ~Evaluators();
  Evaluators(const Evaluators&) = delete;
  Evaluators& operator=(const Evaluators&) = delete;

  [[nodiscard]] Use take();

 private:
  [[nodiscard]] Place& place(std::size_t number);

  engine::Engine& engine_;
  const std::size_t count_;  // of the places that may be made: as many as threads can run at once
  std::mutex making_;
  std::array<std::atomic<Place*>, most> places_{};  // owned; each is made by the first thread that needs it
};

}  // namespace weir::embedded
