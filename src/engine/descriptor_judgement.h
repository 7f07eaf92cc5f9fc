// The descriptors of one request judged together, all or nothing. Shadow limits are asked when the verdict is final,
// and charged iff it admits.
//
// Quota descriptors (`quota_mode`) stand for each other: those that are over are left out, and the request is over only
// if all of them are, or any other descriptor is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/descriptor_parts.h"
#include "engine/descriptors.h"
#include "engine/plan.h"
#include "table/together.h"
#include "weir/time.h"

namespace weir::engine {

// What is asked of tables for the live descriptors of one request. Kept from one request to the next.
class DescriptorChecks {
 public:
  void clear() noexcept { count_ = quotas_ = over_ = 0; }

  // `owner` is the descriptor's number.
  void add(const table::Check& check, std::size_t owner, bool quota) noexcept;
  // A quota descriptor of which it is known without asking.
  void add_known_quota(bool over) noexcept;

  // Charges all that are not quotas, and of the quotas those that fit; or nothing, and then it is false.
  [[nodiscard]] bool decide(Instant now) noexcept;
  // Charges nothing, and says what is left.
  void look(Instant now) noexcept { look(count_, now); }

  // Calls work(owner, decision) for each.
  template <class Work>
  void for_each_decision(const Work& work) const {
    for (std::size_t i = 0; i < count_; ++i) work(owners_[i], decisions_[i]);
  }

 private:
  void look(std::size_t count, Instant now) noexcept;
  // Moves those that deny behind the first `fitting`. False if one of them is no quota.
  [[nodiscard]] bool drop_full_quotas(std::size_t& fitting) noexcept;

  std::array<table::Check, table::most_together> checks_;
  std::array<std::size_t, table::most_together> owners_;
  std::array<bool, table::most_together> is_quota_;
  std::array<Decision, table::most_together> decisions_;
  std::size_t count_ = 0;
  std::size_t quotas_ = 0;
  std::size_t over_ = 0;  // of the quotas
};

class DescriptorJudgement {
 public:
  // Space to work in, kept from one request to the next.
  class Room {
    friend class DescriptorJudgement;

    DescriptorParts parts_;
    DescriptorChecks checks_;
  };

  // At most `table::most_together` descriptors; `statuses` has their number.
  DescriptorJudgement(const Plan& plan, const policy::Domain& domain, std::span<const DescriptorAsk> asks,
                      std::span<DescriptorStatus> statuses, Room& room) noexcept
      : plan_(plan), domain_(domain), asks_(asks), statuses_(statuses), room_(room) {}

  [[nodiscard]] bool pass(Instant now);

  // The configured limit that a descriptor was judged by; Verdict::no_limit if there was none.
  [[nodiscard]] std::uint32_t limit_of(std::size_t i) const noexcept { return room_.parts_[i].limit; }

 private:
  [[nodiscard]] bool judge_live(Instant now) noexcept;

  const Plan& plan_;
  const policy::Domain& domain_;
  std::span<const DescriptorAsk> asks_;
  std::span<DescriptorStatus> statuses_;
  Room& room_;
};

}  // namespace weir::engine
