// SPDX-License-Identifier: Apache-2.0
// The decision of one limit on one request.
#pragma once

#include <cstdint>
#include <optional>

#include "weir/time.h"

namespace weir {

struct [[nodiscard]] Decision {
  bool admitted = false;

  // The maximum that an idle consumer can take at once.
  std::uint64_t limit = 0;

  // The largest cost that would be admitted now, after this decision.
  std::uint64_t remaining = 0;

  // Exact: a lone caller that returns after this time is admitted, one microsecond earlier it is not. Zero when
  // admitted; empty when the cost can never fit.
  std::optional<Duration> retry_after = Duration::zero();

  // Time until the limit is as if never used.
  Duration reset_after = Duration::zero();

  // How long an admitted caller must wait for its turn (leaky bucket with a queue; otherwise zero).
  Duration delay = Duration::zero();

  // Time until more than `remaining` is available if no other request arrives: never too early, and for buckets at most
  // a microsecond too late. Set only if the caller requested it; empty when the full limit is available.
  std::optional<Duration> more_after = std::nullopt;

  // The instant from which the charge counts.
  Instant charged_at{};

  [[nodiscard]] explicit operator bool() const noexcept { return admitted; }

  friend bool operator==(const Decision&, const Decision&) = default;
};

}  // namespace weir
