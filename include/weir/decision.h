// The answer to one check of one limit.
#pragma once

#include <cstdint>
#include <optional>

#include "weir/time.h"

namespace weir {

struct [[nodiscard]] Decision {
  bool admitted = false;

  // The most that a consumer at rest could take at once.
  std::uint64_t limit = 0;

  // The largest cost that would be admitted now, after this decision.
  std::uint64_t remaining = 0;

  // Exact: a lone caller who returns after this long is admitted, one microsecond earlier is not.
  // Zero when admitted; empty when the cost can never fit.
  std::optional<Duration> retry_after = Duration::zero();

  // Until the limit is as good as never used.
  Duration reset_after = Duration::zero();

  // How long an admitted caller waits for its turn (leaky bucket with a queue; otherwise zero).
  Duration delay = Duration::zero();

  // Until more remains than `remaining` says, if nobody else asks meanwhile: never too early, and for buckets at most a
  // microsecond too late. Only where the check asked for it; empty when all is there.
  std::optional<Duration> more_after = std::nullopt;

  // The instant from which the charge counts.
  Instant charged_at{};

  [[nodiscard]] explicit operator bool() const noexcept { return admitted; }

  friend bool operator==(const Decision&, const Decision&) = default;
};

}  // namespace weir
