// A store around a shared one that decides on this process's slices (slice_table.h) where it can, and asks the inner
// store otherwise.
//
// A group whose checks are all covered by slices is decided here, at once. Otherwise the uncovered checks are sent to
// the store together, with messages about their slices; units spent for the others are put back if the store denies. A
// group is still all or nothing: for a moment fewer may be admitted than possible, never more.
//
// States without slices pass through unchanged. Messages that no request waits for are sent after the batch that made
// them due, and by tick().
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/object_pool.h"
#include "store/leased/slice_table.h"
#include "store/store.h"

namespace weir::store {

class LeasedStore final : public Store {
 public:
  using Ticks = SliceTable::Ticks;

  // CLOCK_BOOTTIME, which also runs while the machine sleeps.
  [[nodiscard]] static Ticks boot_time() noexcept;

  // `inner` must outlive this object and answer everything in flight before it is destroyed.
  explicit LeasedStore(Store& inner, std::function<Ticks()> clock = boot_time);
  ~LeasedStore() override;

  using Store::submit;
  void submit(Batch batch) override;

  // Returns unused slices and those of removed limits. Call it a few times per sixteenth of a lease.
  void tick();

  [[nodiscard]] bool has_slices() const noexcept { return !tables_.empty(); }

  // Returns all slices used here and takes no more. Complete when idle().
  void give_back_all();
  [[nodiscard]] bool idle() const noexcept { return in_flight_ == 0; }

 private:
  // A group of which some checks are sent, and a message that no request waits for.
  struct Forwarded;
  struct Background;

  // A check decided on a slice. Its units are pending while the store decides other checks of its group.
  struct Spent {
    std::size_t place;
    std::uint64_t number;
    SliceTable::On on;
    std::uint64_t slice = 0;  // the slice that pending units belong to
  };
  struct Renewal {
    SliceTable* table;
    table::KeyHash key;
    std::string shared_key;
  };

  void decide(Group& group, Ticks now, std::vector<Group*>& forwarded);
  [[nodiscard]] bool spend(Group& group, Ticks now);
  [[nodiscard]] bool can_deny() const noexcept;
  void admit(Group& group, Ticks now);
  void deny(Group& group, Ticks now);
  [[nodiscard]] Group& forward(Group& group, Ticks now);
  void add_messages(Forwarded& request, Ticks now);
  void conclude(Forwarded& request);
  void read_answers(const Forwarded& request, Ticks now);
  void add_rest(Group& group, Ticks now);
  void put_back(Group& group, std::vector<Spent>& spent, Ticks now);

  [[nodiscard]] Background& background(SliceTable& table, table::KeyHash key, std::string_view shared_key, Ticks now);
  void send(SliceTable& table, table::KeyHash key, std::string_view shared_key, const core::SliceMessage& message,
            Ticks now);
  void refund(const Check& check, Ticks now);
  void send_renewals(Ticks now);
  void send_due(SliceTable& table, Ticks now);
  void conclude(Background& message);
  void remember(SliceTable& table);

  Store& inner_;
  const std::function<Ticks()> clock_;
  std::size_t in_flight_ = 0;

  std::vector<std::shared_ptr<SliceTable>> tables_;  // tables with slices
  base::ObjectPool<Forwarded> forwarded_pool_;
  base::ObjectPool<Background> background_pool_;

  // Members below are reused to avoid allocations.
  std::vector<Group*> forwarded_;
  std::vector<SliceTable::Taken> taken_;  // for the checks of one group
  std::vector<Spent> spent_;
  std::vector<SliceTable::Due> due_;
  std::vector<Renewal> renewals_;
};

}  // namespace weir::store
