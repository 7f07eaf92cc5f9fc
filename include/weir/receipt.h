// SPDX-License-Identifier: Apache-2.0
// Receipts: reserve the expected cost of a request, then settle the actual cost.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

#include "weir/cost.h"
#include "weir/decision.h"
#include "weir/time.h"

namespace weir {

// Identifies a reservation by a hash of its key and an id; neither is secret. Valid for the limiter that issued it, and
// for one restored from that limiter's snapshot. Copies are the same receipt: the first settle wins.
class Receipt {
 public:
  // The default lifetime. For a concurrency limit the default is the limit's lease.
  static constexpr Duration default_duration = std::chrono::minutes{10};
  // The maximum lifetime; a longer one is shortened to it.
  static constexpr Duration max_duration = std::chrono::days{7};

  // Constructs an empty receipt.
  Receipt() noexcept = default;

  [[nodiscard]] explicit operator bool() const noexcept { return (high_ | low_) != 0; }

  friend auto operator<=>(const Receipt&, const Receipt&) noexcept = default;

 private:
  friend class Limiter;
  friend class KeyedLimiter;
  Receipt(std::uint64_t key, std::uint64_t high, std::uint64_t low) noexcept : key_(key), high_(high), low_(low) {}

  std::uint64_t key_ = 0;  // the hash
  std::uint64_t high_ = 0;
  std::uint64_t low_ = 0;
};

enum class ReceiptResult : std::uint8_t {
  none,      // nothing was done: a denied reserve; a report to a concurrency limit; or the store did not answer
  done,      // reserved, settled, released, extended or reported
  repeated,  // reserve or report: the id is already known, nothing was charged
  not_kept,  // too many are open, or out of memory: a reserve is charged without a receipt; a report is charged, and
             // charged again if it is repeated
  ended,     // the receipt is not open: settled, expired, or issued by another limiter. Nothing changed
  unknown,   // the policy no longer has the limit. Nothing changed
};

// The result of a reserve.
struct [[nodiscard]] Reservation {
  Decision decision;
  ReceiptResult result = ReceiptResult::none;
  Receipt receipt;  // empty if denied or not kept
  Cost cost{0};     // charged under the receipt
  Instant ends{};   // when the receipt expires; the charge stays

  [[nodiscard]] explicit operator bool() const noexcept { return decision.admitted; }
};

// The result of a settle, a release, an extend or a report.
struct ReceiptAnswer {
  ReceiptResult result = ReceiptResult::none;
  Cost cost{0};    // charged before under the receipt; for a report, charged now
  Instant ends{};  // when the receipt expires, or would have
  std::uint64_t lost =
      0;  // the part of a higher settlement or a report that did not fit even into a debt of one capacity

  [[nodiscard]] explicit operator bool() const noexcept { return result == ReceiptResult::done; }
};

}  // namespace weir
