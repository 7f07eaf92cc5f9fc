// A store around one that can be away. While that does not answer, this process decides what a group's Fallback says,
// and keeps what it admitted on its share of the limits: that is charged to the store with the next decision on the
// same states.
//
// What is still to be charged is a state of its own beside the one that this process decides by, in the same table and
// by the same rule: only a part of what counts here is to be charged there, and charging it there makes no room here.
// What was sent and not answered may have been charged there, and is not charged again.
//
// While the inner store fails from time to time, what it admits for this process counts on the share as well, and what
// it has no room for of a bucket is charged later, as it refills. Otherwise both would admit in turn, and both refill
// in the meantime: together twice the limit.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/object_pool.h"
#include "core/share.h"
#include "store/local/local_store.h"
#include "store/store.h"
#include "weir/clock.h"

namespace weir::store {

struct ForwardedGroup;

// How long after a failure a store is taken for one that may fail again: twice the longest wait of a breaker.
inline constexpr Duration unsteady_for = std::chrono::seconds(10);

class OutageStore final : public Store {
 public:
  // All of them stay longer. `timeout` is what all groups of one request together may take. `has_charges` is set where
  // something is to be charged back, by this store or by another one on the same tables. `nodes` share the inner store;
  // it may change at any time. Null: two.
  OutageStore(Store& inner, const Clock& clock, Duration timeout, std::atomic<bool>& has_charges,
              const std::atomic<std::uint32_t>* nodes = nullptr) noexcept;
  ~OutageStore() override;

  using Store::submit;
  void submit(Batch batch) override;

  // What keeps states where they are (Evaluator::hold): taken while this process decides what a store answered late.
  using Hold = std::unique_lock<std::recursive_mutex>;
  void hold_with(std::function<Hold()> hold) { hold_ = std::move(hold); }

 private:
  // A group that the inner store has, or that is decided here.
  struct Forwarded;

  // The rule by which this process decides a check; `room` is for one that has to be made.
  [[nodiscard]] const core::Rule* local_rule(const Check& check, core::Rule& room) const noexcept;
  [[nodiscard]] std::uint64_t nodes() const noexcept {
    return nodes_ == nullptr ? core::min_sharing_nodes : nodes_->load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_unsteady() noexcept;
  [[nodiscard]] Forwarded& forward(Group& group);
  void conclude(Forwarded& request);
  void answer(Forwarded& request);
  void count_here(const Group& group) noexcept;
  void decide_late(Group& group, const Group& whole);
  void take_charges(ForwardedGroup& copy);
  void keep_charges(const Group& group) noexcept;
  void decide_here(Group& group);
  void settle_here(Group& group);
  void decide_by_choice(Group& group) const noexcept;

  Store& inner_;
  const Clock& clock_;
  const Duration timeout_;
  std::atomic<bool>& has_charges_;
  const std::atomic<std::uint32_t>* const nodes_;
  std::optional<Deadline> unsteady_until_;  // none: the inner store has not failed lately
  std::function<Hold()> hold_;              // empty: nothing moves states
  base::ObjectPool<Forwarded> pool_;
  TableDecider decider_;

  // Kept for their memory.
  std::vector<Group*> forwarded_;
  std::vector<core::Rule> rules_;  // that had to be made for the checks of a group
};

}  // namespace weir::store
