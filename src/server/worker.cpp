#include "server/worker.h"

#include <chrono>

#include "policy/words.h"

namespace weir::server {
namespace {

store::ThrottleTable* throttle_table_of(const std::vector<std::unique_ptr<Protocol>>& protocols) noexcept {
  for (const auto& protocol : protocols) {
    if (store::ThrottleTable* const table = protocol->throttle_table()) return table;
  }
  return nullptr;
}

}  // namespace

Worker::Worker(const WorkerContext& context, const std::vector<std::unique_ptr<Protocol>>& protocols,
               const WorkerOptions& options, net::Loop& loop, store::StoreCounts* counts)
    : recorder_(context.names, context.log, loop.index()),
      redis_(context.redis == nullptr ? nullptr
                                      : std::make_unique<store::redis::RedisStore>(loop, *context.redis, *counts)),
      outage_(redis_ ? std::make_unique<store::OutageStore>(*redis_, context.clock, context.redis->timeout,
                                                            context.engine.has_charges(), context.node_count)
                     : nullptr),
      store_(outage_ ? std::make_unique<store::LeasedStore>(*outage_) : nullptr),
      gate_(store_ ? std::make_unique<store::StartGate>(*store_) : nullptr),
      startup_timer_(loop),
      slices_timer_(loop),
      heartbeat_(context.nodes == nullptr || loop.index() > 0
                     ? nullptr
                     : std::make_unique<store::redis::Heartbeat>(loop, *redis_, context.nodes->list(),
                                                                 context.nodes->counts(),
                                                                 context.nodes->heartbeat_options())),
      context_(context.engine, context.clock, options.settings,
               {.observer = &recorder_, .store = gate_.get(), .throttle = throttle_table_of(protocols)},
               options.receipt_keys),
      protocols_(protocols),
      loop_(loop.index()) {
  recorder_.name_exceptions(
      [&backend = context.backend](match::ExceptionNumber number) { return backend.exception_id(number); });
  if (outage_) {
    outage_->lock_with([this] { return context_.evaluator().lock(); });
    watch_slices();
    await_store(context, loop);
  }
  for (std::size_t i = 0; i < protocols.size(); ++i) {
    frontends_.push_back(
        protocols[i]->make_frontend({context_, context.health, context.backend}, *options.frontends[i]));
  }
}

// Destroying redis_ answers the requests in flight, which need the other members.
Worker::~Worker() {
  if (gate_) gate_->open();
  redis_.reset();
}

// The gate opens under the evaluator's lock, because stores may access states. The store's callback runs inside the
// store, so the gate opens in a later iteration of the loop. The heartbeat starts before the first decision.
void Worker::await_store(const WorkerContext& context, net::Loop& loop) {
  const auto open = [this, on_connected = context.on_connected] {
    if (gate_->is_open()) return;
    startup_timer_.cancel();
    const auto lock = context_.evaluator().lock();
    gate_->open();
    on_connected();
  };
  const auto begin = [this, open] {
    if (heartbeat_) heartbeat_->begin();
    open();
  };
  redis_->on_ready([&loop, begin] { loop.post(begin); });
  const auto too_late = [open, timeout = context.startup_timeout, log = context.redis->log] {
    if (log && timeout > Duration::zero()) {
      log(store::redis::Severity::warning,
          "store did not answer within " + policy::duration_text(timeout) + ": on_store_failure applies until it does");
    }
    open();
  };
  startup_timer_.set(net::SteadyTime::clock::now() + context.startup_timeout, too_late);
}

// Polls less often if nothing is leased.
void Worker::watch_slices() {
  const auto pause = std::chrono::milliseconds(store_->has_slices() ? 25 : 250);
  slices_timer_.set(net::SteadyTime::clock::now() + pause, [this] {
    store_->tick();
    watch_slices();
  });
}

void Worker::leave_store() {
  if (!store_) return;
  if (heartbeat_) heartbeat_->leave();
  slices_timer_.cancel();
  store_->give_back_all();
}

void Worker::change(const WorkerOptions& options) {
  context_.change(options.settings);
  context_.change_receipt_keys(options.receipt_keys);
  for (std::size_t i = 0; i < frontends_.size(); ++i) {
    if (options.frontends[i]) protocols_[i]->change(loop_, *options.frontends[i]);
  }
}

}  // namespace weir::server
