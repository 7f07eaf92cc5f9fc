// A store around one that can be away. While that does not answer, this process decides what a group's Fallback says,
// and keeps what it admitted on its share of the limits: that is charged to the store with the next decision on the
// same states.
//
// What is still to be charged is a state of its own beside the one that this process decides by, in the same table and
// by the same rule: only a part of what counts here is to be charged there, and charging it there makes no room here.
// What was sent and not answered may have been charged there, and is not charged again.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "store/local/local_store.h"
#include "store/store.h"
#include "weir/clock.h"
#include "weir/cost.h"
#include "weir/limit.h"

namespace weir::store {

// Of a share.
inline constexpr std::uint32_t whole_share = 1'000'000;

// What is left of a limit for one process while the shared store is away: the rate and the burst times `share`, in
// millionths, rounded down; at least one, and at least `largest_cost`, so that nothing that could pass before can never
// pass now. Of a window, its limit.
[[nodiscard]] Limit local_share_of(const Limit& limit, std::uint32_t share, Cost largest_cost) noexcept;

// When a client that a closed limit denied may try again: when the store is back is not known.
inline constexpr Duration closed_retry_after = std::chrono::seconds(1);

class OutageStore final : public Store {
 public:
  // All of them stay longer. `timeout` is what all groups of one request together may take. `has_charges` is set where
  // something is to be charged back, by this store or by another one on the same tables.
  OutageStore(Store& inner, const Clock& clock, Duration timeout, std::atomic<bool>& has_charges) noexcept
      : inner_(inner), clock_(clock), timeout_(timeout), has_charges_(has_charges) {}
  ~OutageStore() override;

  using Store::submit;
  void submit(Batch batch) override;

  // What keeps states where they are (Evaluator::hold): taken while this process decides what a store answered late.
  using Hold = std::unique_lock<std::recursive_mutex>;
  void hold_with(std::function<Hold()> hold) { hold_ = std::move(hold); }

 private:
  // Stands between a group and its callback while the inner store has it.
  struct Waiting final : Callback {
    explicit Waiting(OutageStore& its_store) noexcept : store(its_store) {}
    virtual ~Waiting() = default;
    void answered(Group& group) override;

    OutageStore& store;
    Callback* callback = nullptr;
  };

  void prepare(Group& group);
  void decide_late(Group& group);
  void take_charges(Group& group) noexcept;
  void keep_charges(Group& group) noexcept;
  void decide_here(Group& group);
  void settle_here(Group& group);
  void decide_by_choice(Group& group) const noexcept;

  Store& inner_;
  const Clock& clock_;
  const Duration timeout_;
  std::atomic<bool>& has_charges_;
  std::function<Hold()> hold_;  // empty: nothing moves states
  std::vector<std::unique_ptr<Waiting>> waiting_;
  std::vector<Waiting*> free_;
  TableDecider decider_;
  std::vector<Group*> forwarded_;  // kept for its memory

  // While a group is decided here: the rule of a check as it was, and the one that had to be made for it.
  struct Rules {
    const core::Rule* whole;
    core::Rule made;
  };
  std::vector<Rules> rules_;  // kept for its memory
};

}  // namespace weir::store
