// Which header fields an answer carries.
#pragma once

#include "weir/time.h"

namespace weir {

// Retry-After is always among them where there is one.
struct FieldChoice {
  bool rate_limit = true;    // RateLimit-Policy, RateLimit (IETF httpapi draft -10)
  bool x_rate_limit = true;  // X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset
  bool x_reset_as_epoch = false;
  bool legacy_fields = false;  // RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset

  // Added to Retry-After. Another one at random for each answer spreads the clients that come back.
  Duration more_retry_after{};
};

}  // namespace weir
