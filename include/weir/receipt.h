// What reserve() gives, and what comes of it: reserve what a request may cost, settle when it is known what it did.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

#include "weir/cost.h"
#include "weir/decision.h"
#include "weir/time.h"

namespace weir {

// Which reservation is meant: by a hash of its key and by an id, neither of them secret. It is good for the limiter
// that gave it, and for one that was restored from that one's snapshot. Copies are the same receipt: whichever is
// settled first counts.
class Receipt {
 public:
  // How long one lasts where nobody says. Of a limit on what is held at once it is the limit's lease.
  static constexpr Duration usual = std::chrono::minutes{10};
  // The longest; what is asked for beyond it is cut to it.
  static constexpr Duration longest = std::chrono::days{7};

  // None.
  Receipt() noexcept = default;

  [[nodiscard]] explicit operator bool() const noexcept { return (high_ | low_) != 0; }

  friend auto operator<=>(const Receipt&, const Receipt&) noexcept = default;

 private:
  friend class Limiter;
  friend class KeyedLimiter;
  Receipt(std::uint64_t key, std::uint64_t high, std::uint64_t low) noexcept : key_(key), high_(high), low_(low) {}

  std::uint64_t key_ = 0;  // hashed
  std::uint64_t high_ = 0;
  std::uint64_t low_ = 0;
};

enum class ReceiptResult : std::uint8_t {
  none,      // nothing was done: a reserve that was denied; a report to a limit on what is held at once; or the store
             // did not answer
  done,      // reserved, settled, released, extended or reported
  repeated,  // of a reserve or a report: its id is known already, and nothing was charged
  not_kept,  // there are too many of them, or there is no memory: a reserve is charged and has no receipt; a report is
             // charged, and would be charged again if it is repeated
  ended,     // nothing is open under this receipt: it is settled already, over, or of another limiter. Nothing changed
  unknown,   // the policy no longer has the limit. Nothing changed
};

// The answer to a reserve.
struct [[nodiscard]] Reservation {
  Decision decision;
  ReceiptResult result = ReceiptResult::none;
  Receipt receipt;  // none, if it is denied or not kept
  Cost cost{0};     // what is charged under the receipt
  Instant ends{};   // when the receipt does; the charge then stays

  // Whether it is admitted.
  [[nodiscard]] explicit operator bool() const noexcept { return decision.admitted; }
};

// The answer to a settle, a release, an extend or a report.
struct ReceiptAnswer {
  ReceiptResult result = ReceiptResult::none;
  Cost cost{0};            // what was charged before, by the receipt; by a report, what is now
  Instant ends{};          // when the receipt ends, or would have
  std::uint64_t lost = 0;  // what was charged upward, or reported, and found no room even in a debt of one capacity

  [[nodiscard]] explicit operator bool() const noexcept { return result == ReceiptResult::done; }
};

}  // namespace weir
