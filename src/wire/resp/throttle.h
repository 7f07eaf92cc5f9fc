// CL.THROTTLE of redis-cell: `CL.THROTTLE key max_burst count period [quantity]` and its reply of five integers.
//
// Unlike redis-cell, this rejects negative numbers (a negative quantity would refund units that were never taken) and
// periods longer than Duration::max().
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "weir/cost.h"
#include "weir/decision.h"
#include "weir/limit.h"
#include "weir/result.h"

namespace weir::wire::resp {

struct ThrottleArguments {
  std::string_view key;   // a view of the command
  BucketNumbers numbers;  // burst is max_burst + 1
  Cost quantity = Cost(1);
};

// `arguments` includes the command's name. The message of an error is the reply text of redis-cell.
[[nodiscard]] Result<ThrottleArguments> parse_throttle(std::span<const std::string_view> arguments);

// The numbers in the order of the reply. Seconds are rounded up, so that clients do not retry too early.
struct ThrottleReply {
  std::int64_t limited = 0;  // 0 allowed, 1 limited
  std::int64_t limit = 0;    // max_burst + 1
  std::int64_t remaining = 0;
  std::int64_t retry_after = -1;  // -1 when allowed, and when the quantity can never fit
  std::int64_t reset_after = 0;   // seconds until the bucket is full

  friend bool operator==(const ThrottleReply&, const ThrottleReply&) = default;
};

[[nodiscard]] ThrottleReply throttle_reply(const Decision& decision) noexcept;

// The reply is the same in RESP2 and RESP3.
void append_throttle_reply(std::string& out, const ThrottleReply& reply);
void append_throttle_reply(std::string& out, const Decision& decision);

}  // namespace weir::wire::resp
