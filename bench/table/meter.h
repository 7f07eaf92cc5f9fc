// The token bucket of the baselines: one time of arrival, 8 bytes, 64-bit arithmetic, a yes or a no.
// It does less than Weir (no remainders, no Decision to fill in), in the baselines' favour.
#pragma once

#include <algorithm>

#include "table/quota.h"
#include "weir/time.h"

namespace bench::table {

class Meter {
 public:
  explicit Meter(Quota quota) noexcept
      : token_(Quota::rate.per / static_cast<weir::Duration::rep>(Quota::rate.count)),
        fill_(token_ * static_cast<weir::Duration::rep>(quota.burst)) {}

  // `arrival` is default for a key that was never seen.
  [[nodiscard]] bool admit(weir::Instant& arrival, weir::Instant now) const noexcept {
    const weir::Instant next = std::max(arrival, now) + token_;
    if (next - now > fill_) return false;
    arrival = next;
    return true;
  }

 private:
  weir::Duration token_;
  weir::Duration fill_;
};

}  // namespace bench::table
