// What a server's answers leave a client to send: promises of the form "at most this much until then".
// "Nothing until then" is a promise too.
//
// All promises hold at once, so no answer, however late or out of order, takes back what another said.
// A promise is dropped when its time is over, or when another says the same or less for as long or longer.
//
// Invariants: over the steps, `left` and `until` both increase strictly; never more than `max_steps`.
// One too many merges the two whose ends are nearest into the stricter of both: that can hold a client
// back for longer, never less.
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

  // At most `left` will be sent from `now` until `until`.
  void promise(std::uint64_t left, Instant until, Instant now);

  // The earliest instant from `now` on at which `cost` may be sent, as promised so far. A request that
  // costs nothing is still a request: it is not sent while nothing may be.
  [[nodiscard]] Instant admits_at(Cost cost, Instant now) const noexcept;

  // Charges what is sent at `now`; admits_at(cost, now) was now.
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
