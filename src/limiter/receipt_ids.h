// Receipts in Limiter and KeyedLimiter: ids, lifetimes and results.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "core/receipts.h"
#include "core/rule.h"
#include "table/hash_key.h"
#include "table/siphash.h"
#include "weir/receipt.h"

namespace weir::limiter {

static_assert(Receipt::max_duration == core::Receipts::max_duration);

// Callable from any thread.
class ReceiptIds {
 public:
  // Returns the id for a name chosen by the caller; without a name, a unique id.
  [[nodiscard]] core::ReceiptId next(std::string_view name) noexcept {
    if (name.empty()) return {first_, number_.fetch_add(1, std::memory_order_relaxed)};
    return of(name);
  }
  [[nodiscard]] static core::ReceiptId of(std::string_view name) noexcept {
    return {table::siphash13({1, 0}, name) | 1, table::siphash13({2, 0}, name)};
  }

 private:
  const std::uint64_t first_ = table::HashKey::random().first | 1;
  std::atomic<std::uint64_t> number_{0};
};

// Zero means the limit's default.
[[nodiscard]] inline Duration lasting(const core::Rule& rule, Duration lasts) noexcept {
  if (lasts != Duration::zero()) return lasts;
  const auto* const concurrency = std::get_if<core::RuleOf<core::Concurrency>>(&rule);
  return concurrency != nullptr ? Duration{concurrency->limit.window} : Receipt::default_duration;
}

[[nodiscard]] inline ReceiptAnswer answer_of(const core::ReceiptUse& use) noexcept {
  return {.result = use.result, .cost = use.cost, .ends = use.ends, .lost = use.lost};
}

// Leaves the receipt empty.
[[nodiscard]] inline Reservation reservation_of(const Decision& decision, const core::ReceiptUse& use) noexcept {
  return {.decision = decision, .result = use.result, .receipt = {}, .cost = use.cost, .ends = use.ends};
}

[[nodiscard]] constexpr bool has_receipt(core::ReceiptResult result) noexcept {
  return result == core::ReceiptResult::done || result == core::ReceiptResult::repeated;
}

}  // namespace weir::limiter
