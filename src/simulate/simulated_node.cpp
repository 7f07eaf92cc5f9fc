#include "simulate/simulated_node.h"

#include <algorithm>
#include <utility>

#include "base/object_pool.h"
#include "store/forwarded_group.h"
#include "table/hash_key.h"

namespace weir::simulate {

using store::Check;
using store::Group;

namespace {

// The key is fixed to make runs reproducible: the position of a consumer in a table of slices affects when its slices
// are swept.
constexpr table::HashKey fixed_hash_key{1, 2};

}  // namespace

// Forwards to the leased store and counts the path of each decision.
class SimulatedNode::Watched final : public store::Store {
 public:
  Watched(store::Store& inner, const SimulatedNode& node) : inner_(inner) {
    node.add_states(limits_);
    paths_.resize(node.bindings_->limits().size());
  }

  using Store::submit;
  void submit(store::Batch batch) override {
    std::vector<Group*> forwarded;
    for (Group* const group : batch) {
      Forwarded& request = pool_.acquire(*this);
      request.copy.take_all(*group, request);
      forwarded.push_back(&request.copy.group);
    }
    inner_.submit(forwarded);
  }

  [[nodiscard]] const std::vector<LimitPaths>& paths() const noexcept { return paths_; }

 private:
  struct Forwarded final : store::Callback {
    explicit Forwarded(Watched& its_watched) noexcept : watched(its_watched) {}
    virtual ~Forwarded() = default;
    void answered(Group& /*group*/) override { watched.conclude(*this); }

    Watched& watched;
    store::ForwardedGroup copy;
  };

  void conclude(Forwarded& request) {
    request.copy.write_back();
    Group& whole = *request.copy.whole;
    pool_.release(request);
    if (whole.operation == store::Operation::decide) {
      for (const Check& check : whole.checks) count(check);
    }
    whole.callback->answered(whole);
  }

  void count(const Check& check) {
    const auto limit = limits_.find(check.states);
    if (limit == limits_.end()) return;
    ++paths_[limit->second].evaluated;
    if (check.path == store::Path::slice || check.path == store::Path::approximate)
      ++paths_[limit->second].without_round_trip;
  }

  store::Store& inner_;
  LimitsOfStates limits_;
  std::vector<LimitPaths> paths_;
  base::ObjectPool<Forwarded> pool_;
};

Result<std::unique_ptr<SimulatedNode>> SimulatedNode::create(const NodeContext& context, std::uint64_t number) {
  auto holder = std::make_shared<store::SliceHolder>((number + 1) << 32);
  holder->nodes.store(context.nodes, std::memory_order_relaxed);
  auto engine = engine::Engine::create(context.ruleset, {.memory_budget = context.memory_budget,
                                                         .hash_key = fixed_hash_key,
                                                         .shared_keys = context.keys,
                                                         .slice_holder = std::move(holder)});
  if (!engine) return tl::unexpected(engine.error());
  return std::unique_ptr<SimulatedNode>(new SimulatedNode(context, std::move(*engine)));
}

SimulatedNode::SimulatedNode(const NodeContext& context, std::unique_ptr<engine::Engine> engine)
    : engine_(std::move(engine)),
      bindings_(engine_->bindings()),
      leased_(context.store, [&clock = context.clock] { return clock.ticks(); }),
      watched_(std::make_unique<Watched>(leased_, *this)),
      evaluator_(engine_->new_evaluator({.store = watched_.get(), .clock = &context.clock})) {}

SimulatedNode::~SimulatedNode() = default;

// Returns for how long after a request tick() has an effect. A consumer is forgotten in the first sweep after two
// leases without a request.
Duration SimulatedNode::wakes_for() const noexcept {
  Duration max_lease = Duration::zero();
  for (const auto& slices : bindings_->slices()) max_lease = std::max(max_lease, slices->lease());
  return 3 * max_lease;
}

void SimulatedNode::add_states(LimitsOfStates& limits) const {
  for (std::uint32_t i = 0; i < bindings_->limits().size(); ++i) {
    for (const auto& states : bindings_->limits()[i].live) {
      if (!states) continue;
      limits.emplace(&*states, i);
      if (const auto* const slices = store::slices_of(*states)) limits.emplace(&slices->states(), i);
    }
  }
}

void SimulatedNode::add_paths(std::vector<LimitPaths>& sums) const {
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i].evaluated += watched_->paths()[i].evaluated;
    sums[i].without_round_trip += watched_->paths()[i].without_round_trip;
  }
}

}  // namespace weir::simulate
