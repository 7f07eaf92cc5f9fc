// Who sees what an evaluator decides: for metrics and logs. Called on the evaluator's thread, under its hold.
#pragma once

#include <chrono>

#include "weir/time.h"

namespace weir::engine {

class EvaluationBatch;
class Bindings;

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
