// The implementation of weir::Engine.
#pragma once

#include <memory>
#include <utility>

#include "embedded/evaluators.h"
#include "embedded/guarded.h"
#include "embedded/verdict_access.h"
#include "engine/engine.h"
#include "engine/receipt.h"
#include "weir/clock.h"
#include "weir/engine.h"
#include "weir/query.h"

namespace weir {

struct Engine::Body {
  Body(std::shared_ptr<const Clock> time, std::unique_ptr<engine::Engine> policy_engine)
      : clock(std::move(time)), engine(std::move(policy_engine)), evaluators(*engine) {}

  std::shared_ptr<const Clock> clock;
  std::unique_ptr<engine::Engine> engine;
  embedded::Evaluators evaluators;  // must be destroyed before the engine

  // add(batch) adds the requests; read(batch, names) returns the result. Returns `otherwise` if out of memory.
  template <class Add, class Read, class Otherwise>
  auto evaluate(Add&& add, Read&& read, Otherwise&& otherwise) noexcept {
    using Value =
        decltype(read(std::declval<engine::EvaluationBatch&>(), std::declval<const embedded::VerdictAccess::Names&>()));
    return embedded::guarded(
        [&]() -> Value {
          auto use = evaluators.take();
          try {
            engine::EvaluationBatch& batch = use.batch();
            add(batch);
            (void)batch.submit(clock->now());
            return read(batch, use.names());
          } catch (...) {
            use.drop_batch();
            throw;
          }
        },
        std::forward<Otherwise>(otherwise));
  }

  Reservation reserve(const Query& query, const engine::ReceiptRequest& request);
  Settlement settle(const Receipt& receipt, const engine::ReceiptRequest& request);
};

}  // namespace weir
