#include "policy_test/virtual_server.h"

#include <chrono>
#include <utility>

#include "store/shared_keys.h"
#include "table/hash_key.h"

namespace weir::policy_test {
namespace {

// A test has few consumers, so this reserves little more than address space.
constexpr std::size_t memory_budget = std::size_t{64} << 20;

// The key is fixed to make runs reproducible.
constexpr table::HashKey fixed_test_key{1, 2};

constexpr Duration store_timeout = std::chrono::seconds{1};

}  // namespace

Result<std::unique_ptr<VirtualServer>> VirtualServer::create(std::shared_ptr<const policy::Ruleset> ruleset,
                                                             const VirtualServerOptions& options) {
  engine::Engine::Options engine_options{.memory_budget = memory_budget, .hash_key = fixed_test_key};
  if (options.has_shared_store) engine_options.shared_keys = std::make_shared<store::SharedKeys>("", "");
  auto engine = engine::Engine::create(std::move(ruleset), engine_options);
  if (!engine) return tl::unexpected(engine.error());
  return std::unique_ptr<VirtualServer>(new VirtualServer(std::move(*engine), options));
}

VirtualServer::VirtualServer(std::unique_ptr<engine::Engine> engine, const VirtualServerOptions& options)
    : nodes_(options.nodes),
      engine_(std::move(engine)),
      bindings_(engine_->bindings()),
      outage_(shared_, clock_, store_timeout, engine_->has_charges(), &nodes_),
      evaluator_(engine_->new_evaluator({.store = options.has_shared_store ? &outage_ : nullptr, .clock = &clock_})),
      batch_(evaluator_->new_batch()) {}

void VirtualServer::SharedStore::submit(store::Batch batch) {
  for (store::Group* const group : batch) {
    if (is_available) {
      states.decide(*group, clock.now());
    } else {
      group->failure = store::Failure::unavailable;
      group->decided = false;
    }
    group->callback->answered(*group);
  }
}

}  // namespace weir::policy_test
