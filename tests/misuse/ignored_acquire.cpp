// expect: ignoring return value of 'bool weir::ClientLimiter::acquire.*nodiscard
#include "weir/client_limiter.h"

void send_anyway(weir::ClientLimiter& limiter, weir::Instant deadline) {
  limiter.acquire(weir::Cost{1}, deadline);
}
