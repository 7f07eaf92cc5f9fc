// A store around a shared one that spends this process's slices (slice_table.h) where it can, and asks where it cannot.
//
// A group whose checks are all covered by slices is decided here, at once. Otherwise the checks that are not covered
// are asked of the store together, with messages about their slices; what was spent for the others is put back if the
// store denies. So all or nothing holds: for a moment fewer may be admitted than could be, never more.
//
// States without slices pass through as they are. Messages that no request waits for are sent behind the batch that
// made them due, and by tick().
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

  // CLOCK_BOOTTIME: it goes on while the machine sleeps.
  [[nodiscard]] static Ticks boot_time() noexcept;

  // `inner` stays longer, and answers what is in flight before this goes.
  explicit LeasedStore(Store& inner, std::function<Ticks()> clock = boot_time);
  ~LeasedStore() override;

  using Store::submit;
  void submit(Batch batch) override;

  // Slices that nobody spends go back, and those of limits that are gone. To be called a few times in a sixteenth of a
  // lease.
  void tick();

  [[nodiscard]] bool has_slices() const noexcept { return !tables_.empty(); }

  // All slices that were used here go back, and no more are taken. Done when it is idle.
  void give_back_all();
  [[nodiscard]] bool idle() const noexcept { return in_flight_ == 0; }

 private:
  // A group of which something is asked, and a message that no request waits for.
  struct Forwarded;
  struct Background;

  // A check that was spent. Where the store still decides others of its group, it is pending.
  struct Spent {
    std::size_t place;
    std::uint64_t number;
    SliceTable::On on;
    std::uint64_t slice = 0;  // of what is pending
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
  void add_rest(Group& told, Ticks now);
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

  std::vector<std::shared_ptr<SliceTable>> tables_;  // of which there are slices
  base::ObjectPool<Forwarded> forwarded_pool_;
  base::ObjectPool<Background> background_pool_;

  // Kept for their memory.
  std::vector<Group*> forwarded_;
  std::vector<SliceTable::Taken> taken_;  // of the checks of one group
  std::vector<Spent> spent_;
  std::vector<SliceTable::Due> due_;
  std::vector<Renewal> renewals_;
};

}  // namespace weir::store
