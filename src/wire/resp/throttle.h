// CL.THROTTLE, as redis-cell defines it: `CL.THROTTLE key max_burst count period [quantity]`, and its answer of five
// integers. Pure; callable from anywhere.
//
// Where redis-cell has no meaning of its own, this refuses: numbers below zero (there a negative quantity gives back
// what was never taken) and periods beyond what a Duration holds.
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
  BucketNumbers numbers;  // burst is max_burst + 1: what can be taken at once
  Cost quantity = Cost(1);
};

// `arguments` is the whole command with its name. The message of an error is the reply's text, as redis-cell has it.
[[nodiscard]] Result<ThrottleArguments> parse_throttle(std::span<const std::string_view> arguments);

// The numbers in the order of the reply. Seconds are rounded up: a client that comes back after them is not early.
struct ThrottleReply {
  std::int64_t limited = 0;  // 0 allowed, 1 limited
  std::int64_t limit = 0;    // max_burst + 1
  std::int64_t remaining = 0;
  std::int64_t retry_after = -1;  // -1 when allowed, and when the quantity can never fit
  std::int64_t reset_after = 0;   // until full

  friend bool operator==(const ThrottleReply&, const ThrottleReply&) = default;
};

[[nodiscard]] ThrottleReply throttle_reply(const Decision& decision) noexcept;

// The same in both versions of the protocol.
void append_throttle_reply(std::string& out, const ThrottleReply& reply);
void append_throttle_reply(std::string& out, const Decision& decision);

}  // namespace weir::wire::resp
