// A simulated node: the real engine and leased store on top of a shared store.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <unordered_map>
#include <vector>

#include "engine/bindings.h"
#include "engine/engine.h"
#include "engine/evaluator.h"
#include "policy/ruleset.h"
#include "store/leased/leased_store.h"
#include "store/shared_keys.h"
#include "store/store.h"
#include "weir/clock.h"
#include "weir/result.h"
#include "weir/time.h"

namespace weir::simulate {

// A clock that moves only through set().
class VirtualClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const noexcept override { return now_; }
  void wait_until(Instant /*until*/, std::stop_token /*stop*/) const override {}

  // Returns the uptime of a machine that was started one hour before the first set().
  [[nodiscard]] std::int64_t ticks() const noexcept { return (now_ - booted_).count(); }

  void set(Instant now) noexcept {
    if (booted_ == Instant::max()) booted_ = now - std::chrono::hours{1};
    now_ = now;
  }

 private:
  Instant now_{};
  Instant booted_ = Instant::max();
};

struct NodeContext {
  std::shared_ptr<const policy::Ruleset> ruleset;
  std::shared_ptr<const store::SharedKeys> keys;
  std::size_t memory_budget = 0;  // for the tables of a node, which stay empty
  std::uint32_t nodes = 1;
  store::Store& store;  // the shared store
  const VirtualClock& clock;
};

// Maps the states of live limits and of their slices to the limit's index.
using LimitsOfStates = std::unordered_map<const store::States*, std::uint32_t>;

// Counts the decisions of one limit by path.
struct LimitPaths {
  std::uint64_t evaluated = 0;
  std::uint64_t without_round_trip = 0;
};

class SimulatedNode {
 public:
  static Result<std::unique_ptr<SimulatedNode>> create(const NodeContext& context, std::uint64_t number);
  ~SimulatedNode();
  SimulatedNode(const SimulatedNode&) = delete;
  SimulatedNode& operator=(const SimulatedNode&) = delete;

  [[nodiscard]] engine::Evaluator& evaluator() noexcept { return *evaluator_; }

  // Returns unused slices. Has an effect only within `wakes_for` after a request; zero if the node has no slices.
  void tick() { leased_.tick(); }
  [[nodiscard]] Duration wakes_for() const noexcept;

  void add_states(LimitsOfStates& limits) const;
  // `sums` is in file order.
  void add_paths(std::vector<LimitPaths>& sums) const;

 private:
  class Watched;

  SimulatedNode(const NodeContext& context, std::unique_ptr<engine::Engine> engine);

  std::unique_ptr<engine::Engine> engine_;
  std::shared_ptr<const engine::Bindings> bindings_;
  store::LeasedStore leased_;
  std::unique_ptr<Watched> watched_;
  std::unique_ptr<engine::Evaluator> evaluator_;
};

}  // namespace weir::simulate
