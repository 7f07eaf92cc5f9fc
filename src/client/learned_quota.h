// The quota that a client has learned from a server's responses, as promises of the form "at most this much until
// then", including "nothing until then".
//
// All promises apply at once, so no response, however late or out of order, revokes another. A promise is dropped when
// it expires, or when another one is at least as strict for at least as long.
//
// Invariants: over the steps, `left` and `until` both increase strictly; there are at most `max_steps`. Beyond that,
// the two steps whose ends are nearest are merged into the stricter one, which can only delay a client longer.
//
// Not thread-safe: ClientLimiter guards it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "weir/cost.h"
#include "weir/time.h"

namespace weir::client {

class LearnedQuota {
 public:
  static constexpr std::size_t max_steps = 16;

  // Adds a promise: at most `left` units are sent from `now` until `until`.
  void promise(std::uint64_t left, Instant until, Instant now);

  // The earliest instant, `now` or later, at which the promises so far allow `cost` to be sent. A request with a cost
  // of zero is still a request: it is not sent while nothing may be sent.
  [[nodiscard]] Instant admits_at(Cost cost, Instant now) const noexcept;

  // Charges what is sent at `now`, which admits_at(cost, now) must have allowed.
  void take(Cost cost, Instant now) noexcept;

 private:
  struct Step {
    std::uint64_t left;
    Instant until;
  };

  void drop_past(Instant now) noexcept;
  void merge_nearest() noexcept;

  std::vector<Step> steps_;
};

}  // namespace weir::client
