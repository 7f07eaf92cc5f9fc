// A store around one that is not connected yet. Groups wait here, in order, until open(); afterwards they pass straight
// to the inner store. Otherwise a starting process would treat a store that it has not reached yet as unavailable, and
// admit its share of every limit again.
//
//  1. Nothing is decided before open(), and nothing is dropped: open() must be called before destruction.
//  2. It opens once and never closes.
//
// Used on the thread of its loop.
#pragma once

#include <utility>
#include <vector>

#include "store/store.h"

namespace weir::store {

class StartGate final : public Store {
 public:
  // `inner` must outlive this object.
  explicit StartGate(Store& inner) noexcept : inner_(inner) {}

  using Store::submit;
  void submit(Batch batch) override {
    if (is_open_) return inner_.submit(batch);
    waiting_.insert(waiting_.end(), batch.begin(), batch.end());
  }

  // Submits all waiting groups. Callbacks may run, and submit, before this returns.
  void open() {
    if (std::exchange(is_open_, true)) return;
    const std::vector<Group*> waiting = std::exchange(waiting_, {});
    if (!waiting.empty()) inner_.submit(waiting);
  }
  [[nodiscard]] bool is_open() const noexcept { return is_open_; }

 private:
  Store& inner_;
  bool is_open_ = false;
  std::vector<Group*> waiting_;
};

}  // namespace weir::store
