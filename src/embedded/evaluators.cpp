#include "embedded/evaluators.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace weir::embedded {
namespace {

// Threads are numbered as they come, for all engines alike.
std::size_t thread_number() noexcept {
  static std::atomic<std::size_t> next{0};
  thread_local const std::size_t number = next.fetch_add(1, std::memory_order_relaxed);
  return number;
}

}  // namespace

Evaluators::Evaluators(engine::Engine& engine)
    : engine_(engine), count_(std::clamp<std::size_t>(std::thread::hardware_concurrency(), 4, most)) {}

Evaluators::~Evaluators() {
  for (auto& place : places_) delete place.load(std::memory_order_acquire);
}

Evaluators::Place& Evaluators::place(std::size_t number) {
  if (Place* const made = places_[number].load(std::memory_order_acquire)) return *made;
  const std::lock_guard guard(making_);
  if (Place* const made = places_[number].load(std::memory_order_acquire)) return *made;
  auto fresh = std::make_unique<Place>(engine_);
  places_[number].store(fresh.get(), std::memory_order_release);
  return *fresh.release();
}

// Its own place; if another thread is there, any that is free; and if none is, its own when it is.
Evaluators::Use Evaluators::take() {
  const std::size_t home = thread_number() % count_;
  Place& own = place(home);
  if (auto hold = own.evaluator->try_hold()) return {own, std::move(hold)};
  for (std::size_t i = 1; i < count_; ++i) {
    Place* const other = places_[(home + i) % count_].load(std::memory_order_acquire);
    if (other == nullptr) continue;
    if (auto hold = other->evaluator->try_hold()) return {*other, std::move(hold)};
  }
  return {own, own.evaluator->hold()};
}

engine::EvaluationBatch& Evaluators::Use::batch() {
  if (!place_.batch) place_.batch = place_.evaluator->new_batch();
  place_.batch->clear();
  return *place_.batch;
}

const std::shared_ptr<const match::Matcher>& Evaluators::Use::names() {
  const auto& shared = place_.evaluator->bindings().shared_matcher();
  if (place_.names.get() != shared.get()) {
    place_.names = std::shared_ptr<const match::Matcher>(shared.get(), [keep = shared](const match::Matcher*) {});
  }
  return place_.names;
}

}  // namespace weir::embedded
