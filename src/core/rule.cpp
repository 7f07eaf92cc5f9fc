#include "core/rule.h"

namespace weir::core {

Rule compile(const Limit& limit) noexcept {
  switch (limit.algorithm()) {
    case Algorithm::token_bucket:
      return RuleOf<TokenBucket>{TokenBucket::Limit(limit)};
    case Algorithm::gcra:
      return RuleOf<Gcra>{Gcra::Limit(limit)};
    case Algorithm::leaky_bucket_meter:
      return RuleOf<LeakyBucketMeter>{LeakyBucketMeter::Limit(limit)};
    case Algorithm::leaky_bucket_queue:
      return RuleOf<LeakyBucketQueue>{LeakyBucketQueue::Limit(limit)};
    case Algorithm::fixed_window:
      return RuleOf<FixedWindow>{FixedWindow::Limit(limit)};
    case Algorithm::sliding_window_log:
      return RuleOf<SlidingWindowLog>{SlidingWindowLog::Limit(limit)};
    case Algorithm::sliding_window_counter:
      break;
  }
  return RuleOf<SlidingWindowCounter>{SlidingWindowCounter::Limit(limit)};
}

}  // namespace weir::core
