#include "embedded/evaluators.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace weir::embedded {
namespace {

// Threads are numbered in the order in which they first call any engine.
std::size_t thread_number() noexcept {
  static std::atomic<std::size_t> next{0};
  thread_local const std::size_t number = next.fetch_add(1, std::memory_order_relaxed);
  return number;
}

}  // namespace

Evaluators::Evaluators(engine::Engine& engine)
    : engine_(engine), count_(std::clamp<std::size_t>(std::thread::hardware_concurrency(), 4, max_slots)) {}

Evaluators::~Evaluators() {
  for (auto& slot : slots_) delete slot.load(std::memory_order_acquire);
}

Evaluators::Slot& Evaluators::slot(std::size_t number) {
  if (Slot* const existing = slots_[number].load(std::memory_order_acquire)) return *existing;
  const std::lock_guard guard(mutex_);
  if (Slot* const existing = slots_[number].load(std::memory_order_acquire)) return *existing;
  auto fresh = std::make_unique<Slot>(engine_);
  slots_[number].store(fresh.get(), std::memory_order_release);
  return *fresh.release();
}

// Takes the thread's own slot; if that is in use, any free one; if none is free, waits for its own.
Evaluators::Use Evaluators::take() {
  const std::size_t preferred = thread_number() % count_;
  Slot& own = slot(preferred);
  if (auto lock = own.evaluator->try_lock()) return {own, std::move(lock)};
  for (std::size_t i = 1; i < count_; ++i) {
    Slot* const other = slots_[(preferred + i) % count_].load(std::memory_order_acquire);
    if (other == nullptr) continue;
    if (auto lock = other->evaluator->try_lock()) return {*other, std::move(lock)};
  }
  return {own, own.evaluator->lock()};
}

engine::EvaluationBatch& Evaluators::Use::batch() {
  if (!slot_.batch) slot_.batch = slot_.evaluator->new_batch();
  slot_.batch->clear();
  return *slot_.batch;
}

const std::shared_ptr<const match::Matcher>& Evaluators::Use::names() {
  const auto& shared = slot_.evaluator->bindings().shared_matcher();
  if (slot_.names.get() != shared.get()) {
    slot_.names = std::shared_ptr<const match::Matcher>(shared.get(), [keep = shared](const match::Matcher*) {});
  }
  return slot_.names;
}

}  // namespace weir::embedded
