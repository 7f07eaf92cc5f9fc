// One ask whose keys lie in several slots of a cluster: a part for each slot, asked in parallel, answered as one.
//
// All or nothing holds, but not at one instant: when a part denies or fails, what the others charged is given back. For
// that moment fewer may be admitted than could be, never more.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/rule.h"
#include "store/redis/flight.h"
#include "store/shared/shared_store.h"
#include "weir/time.h"

namespace weir::store::redis {

class SplitAsk final : public SharedAsker {
 public:
  struct Part {
    Slot slot = 0;
    SharedAsk ask;
    std::vector<std::size_t> places;  // of its checks, in the whole
  };

  class Owner {
   public:
    // Nobody waits for it.
    virtual void refund(const SharedCheck& charged, Instant charged_at, Slot slot) = 0;
    // It may be used again. The whole has been answered.
    virtual void on_done(SplitAsk& split) = 0;

   protected:
    ~Owner() = default;
  };

  explicit SplitAsk(Owner& owner) : owner_(owner) {}
  virtual ~SplitAsk() = default;
  SplitAsk(const SplitAsk&) = delete;
  SplitAsk& operator=(const SplitAsk&) = delete;

  // `slots`: one for each check. The checks move into the parts, and back before the whole is answered.
  void begin(SharedAsk& whole, std::span<const Slot> slots);
  [[nodiscard]] std::span<Part> parts() noexcept { return {parts_.data(), used_}; }

  void answered(SharedAsk& part) override;

 private:
  Part& part_of(Slot slot);
  void merge();
  void give_back(Part& part);

  Owner& owner_;
  SharedAsk* whole_ = nullptr;
  std::vector<Part> parts_;  // the first used_
  std::size_t used_ = 0;
  std::size_t waiting_ = 0;
};

// What a part charged and has to give back. Has all that it needs: the ask it was of may be gone.
class RefundAsk final : public SharedAsker {
 public:
  class Owner {
   public:
    virtual void on_refunded(RefundAsk& refund) = 0;

   protected:
    ~Owner() = default;
  };

  explicit RefundAsk(Owner& owner) : owner_(owner) {}
  virtual ~RefundAsk() = default;
  RefundAsk(const RefundAsk&) = delete;
  RefundAsk& operator=(const RefundAsk&) = delete;

  SharedAsk& prepare(const SharedCheck& charged, Instant charged_at);
  [[nodiscard]] bool done() const noexcept { return ask_.failure == StoreFailure::none; }

  void answered(SharedAsk& /*ask*/) override { owner_.on_refunded(*this); }

 private:
  Owner& owner_;
  std::optional<core::Rule> rule_;
  SharedAsk ask_;
};

}  // namespace weir::store::redis
