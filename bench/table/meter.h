// The usual token bucket of the baselines: tokens and the time of their last update. It returns only a bool,
// where Weir returns a whole Decision.
#pragma once

#include <algorithm>
#include <chrono>

#include "table/quota.h"
#include "weir/time.h"

namespace bench::table {

// A default-constructed meter is full at the first decision.
struct TokenBucket {
  double tokens = 0;
  weir::Instant counted_at{};
};

class Meter {
 public:
  explicit Meter(Quota quota) noexcept
      : per_microsecond_(static_cast<double>(Quota::rate.count) / static_cast<double>(Quota::rate.per.count())),
        burst_(static_cast<double>(quota.burst)) {}

  [[nodiscard]] bool admit(TokenBucket& bucket, weir::Instant now) const noexcept {
    const auto elapsed = static_cast<double>((now - bucket.counted_at).count());
    bucket.tokens = std::min(burst_, bucket.tokens + elapsed * per_microsecond_);
    bucket.counted_at = now;
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }

 private:
  double per_microsecond_;
  double burst_;
};

}  // namespace bench::table
