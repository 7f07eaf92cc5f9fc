// SPDX-License-Identifier: Apache-2.0
// Selects the header fields of a response.
#pragma once

#include "weir/time.h"

namespace weir {

// Retry-After is always included where it applies.
struct FieldChoice {
  bool rate_limit = true;    // RateLimit-Policy, RateLimit (IETF httpapi draft -10)
  bool x_rate_limit = true;  // X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset
  bool x_reset_as_epoch = false;
  bool legacy_fields = false;  // RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset

  // Added to Retry-After. A random value per response spreads the clients that return.
  Duration more_retry_after{};
};

}  // namespace weir
