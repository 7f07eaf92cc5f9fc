// A store around one that can be unavailable. While the inner store does not answer, this process decides by the
// group's Fallback. What it admits on its share of the limits is recorded, and charged to the inner store with the next
// decision on the same states.
//
// The units to charge are a separate state next to the share's state, in the same table: only part of what counts here
// must be charged there, and charging it there frees nothing here. They do not refill, but never exceed what the share
// has used. Units that were sent and not answered may have been charged, and are not charged again.
//
// While the inner store fails intermittently, what it admits for this process also counts on the share, the share has
// at most its part of what the store had remaining at its last answer, and what does not fit into the store's bucket is
// charged later, as it refills. Otherwise both would admit in turn and refill in between: together twice the limit.
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

// How long after a failure a store is considered unstable: twice the maximum wait of a breaker.
inline constexpr Duration unsteady_for = std::chrono::seconds(10);

class OutageStore final : public Store {
 public:
  // All arguments must outlive the store. `timeout` covers all groups of one request together. `has_charges` is set
  // when units must be charged back, by this store or another one on the same tables. `nodes` is the number of nodes
  // that share the inner store and may change at any time; null means two.
  OutageStore(Store& inner, const Clock& clock, Duration timeout, std::atomic<bool>& has_charges,
              const std::atomic<std::uint32_t>* nodes = nullptr) noexcept;
  ~OutageStore() override;

  using Store::submit;
  void submit(Batch batch) override;

  // Locks states against being moved (Evaluator::lock) while this process decides a group that the store answered late.
  using Lock = std::unique_lock<std::recursive_mutex>;
  void lock_with(std::function<Lock()> lock) { lock_states_ = std::move(lock); }

 private:
  // A group that was passed to the inner store or is decided by this one.
  struct Forwarded;

  // Returns the rule by which this process decides a check; `room` is storage for a derived rule.
  [[nodiscard]] const core::Rule* local_rule(const Check& check, core::Rule& room) const noexcept;
  [[nodiscard]] std::uint64_t nodes() const noexcept {
    return nodes_ == nullptr ? core::min_sharing_nodes : nodes_->load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_unsteady() noexcept;
  [[nodiscard]] Forwarded& forward(Group& group);
  void conclude(Forwarded& request);
  void answer(Forwarded& request);
  void count_here(const Group& group) noexcept;
  static void lower_share(const Check& check, const core::Rule& rule, Instant now) noexcept;
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
  std::optional<Deadline> unsteady_until_;  // none: the inner store has not failed recently
  std::function<Lock()> lock_states_;       // empty: states are never moved
  base::ObjectPool<Forwarded> pool_;
  TableDecider decider_;

  // Members below are reused to avoid allocations.
  std::vector<Group*> forwarded_;
  std::vector<core::Rule> rules_;  // derived for the checks of a group
};

}  // namespace weir::store
