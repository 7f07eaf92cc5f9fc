// A group whose keys are in several slots of a cluster: one part per slot, sent in parallel, answered as one.
//
// The group is charged all or nothing, but not at one instant: when a part denies or fails, the charges of the others
// are given back. Until then, fewer requests than possible may be admitted, but never more.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/rule.h"
#include "store/forwarded_group.h"
#include "store/redis/script_call.h"
#include "store/store.h"
#include "weir/time.h"

namespace weir::store::redis {

class SplitGroup final : public Callback {
 public:
  struct Part {
    Slot slot = 0;
    ForwardedGroup forwarded;
  };

  class Owner {
   public:
    // Gives back a charge. Nothing waits for the result.
    virtual void refund(const store::Check& check, const core::Charged& charged, Slot slot) = 0;
    // The original group has been answered; `split` may be reused.
    virtual void on_done(SplitGroup& split) = 0;

   protected:
    ~Owner() = default;
  };

  explicit SplitGroup(Owner& owner) : owner_(owner) {}
  virtual ~SplitGroup() = default;
  SplitGroup(const SplitGroup&) = delete;
  SplitGroup& operator=(const SplitGroup&) = delete;

  // `slots` has one element per check.
  void begin(Group& whole, std::span<const Slot> slots);
  [[nodiscard]] std::span<Part> parts() noexcept { return {parts_.data(), used_}; }

  void answered(Group& part) override;

 private:
  Part& part_of(Slot slot);
  void merge();
  void give_back(Part& part);

  Owner& owner_;
  Group* whole_ = nullptr;
  std::vector<Part> parts_;  // the first used_ are in use
  std::size_t used_ = 0;
  std::size_t waiting_ = 0;
};

// Gives back what a part charged. Self-contained: the group it belonged to may no longer exist.
class RefundGroup final : public Callback {
 public:
  class Owner {
   public:
    virtual void on_refunded(RefundGroup& refund) = 0;

   protected:
    ~Owner() = default;
  };

  explicit RefundGroup(Owner& owner) : owner_(owner) {}
  virtual ~RefundGroup() = default;
  RefundGroup(const RefundGroup&) = delete;
  RefundGroup& operator=(const RefundGroup&) = delete;

  Group& prepare(const store::Check& check, const core::Charged& charged);
  [[nodiscard]] bool done() const noexcept { return group_.failure == Failure::none; }

  void answered(Group& /*group*/) override { owner_.on_refunded(*this); }

 private:
  Owner& owner_;
  std::optional<core::Rule> rule_;
  core::ReceiptUse release_;
  Group group_;
};

}  // namespace weir::store::redis
