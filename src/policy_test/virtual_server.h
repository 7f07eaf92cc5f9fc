// The engine of a policy on virtual time, as `weir simulate` runs it: local states or, for outages, an in-memory shared
// store behind OutageStore. Not thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "engine/engine.h"
#include "engine/evaluation_batch.h"
#include "policy/ruleset.h"
#include "simulate/shared_states.h"
#include "simulate/simulated_node.h"
#include "store/outage/outage_store.h"
#include "store/store.h"
#include "weir/result.h"
#include "weir/time.h"

namespace weir::policy_test {

struct VirtualServerOptions {
  bool has_shared_store = false;
  std::uint32_t nodes = 2;  // nodes that share the store
};

class VirtualServer {
 public:
  // Fails if more limits cover a route than can be evaluated together.
  static Result<std::unique_ptr<VirtualServer>> create(std::shared_ptr<const policy::Ruleset> ruleset,
                                                       const VirtualServerOptions& options);

  // Makes the shared store answer or fail. Requires has_shared_store.
  void set_store_available(bool available) noexcept { shared_.is_available = available; }

  // Evaluates what `add` adds to a batch, at `now`, which must not decrease. The batch is valid until the next call.
  template <class Add>
  const engine::EvaluationBatch& evaluate(Instant now, Add&& add) {
    clock_.set(now);
    batch_->clear();
    add(*batch_);
    (void)batch_->submit(now);
    return *batch_;
  }

  [[nodiscard]] const engine::Bindings& bindings() const noexcept { return *bindings_; }
  [[nodiscard]] engine::Engine::Totals totals() const { return engine_->totals(); }

 private:
  // Answers at once, or fails as a store without a connection does.
  struct SharedStore final : store::Store {
    explicit SharedStore(const simulate::VirtualClock& its_clock) : clock(its_clock) {}

    using Store::submit;
    void submit(store::Batch batch) override;

    const simulate::VirtualClock& clock;
    simulate::SharedStates states{std::size_t{1} << 20};
    bool is_available = true;
  };

  VirtualServer(std::unique_ptr<engine::Engine> engine, const VirtualServerOptions& options);

  simulate::VirtualClock clock_;
  SharedStore shared_{clock_};
  std::atomic<std::uint32_t> nodes_;
  std::unique_ptr<engine::Engine> engine_;
  std::shared_ptr<const engine::Bindings> bindings_;
  store::OutageStore outage_;
  std::unique_ptr<engine::Evaluator> evaluator_;
  engine::EvaluationBatchPtr batch_;
};

}  // namespace weir::policy_test
