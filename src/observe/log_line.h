// What the log says, as lines of JSON. Callable from any thread.
//
//   {"time":"2026-01-05T12:00:00.000000Z","level":"info","message":"..."}
//   {"time":"2026-01-05T12:00:00.000000Z","event":"denied","reason":"exceeded","limit":"login",...}
//   {"time":"2026-01-05T12:00:00.000000Z","event":"suppressed","count":12}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/verdict.h"
#include "text/address.h"
#include "weir/cost.h"
#include "weir/decision.h"
#include "weir/time.h"

namespace weir::observe {

enum class Level : std::uint8_t { info, warning, error };

// What the program says about itself.
void append_message(std::string& out, Instant time, Level level, std::string_view message);

// A denial. Nothing in it identifies the client: the consumer is named by hashes, the address loses its end, and the
// path is the route's template.
struct Denial {
  Instant time{};
  std::string_view reason{};
  std::string_view limit{};   // its name; empty: no limit in particular
  std::string_view method{};  // empty: unknown. As sent, and cut short
  std::string_view route{};
  std::string_view tier{};      // empty: none
  std::string_view consumer{};  // as ConsumerNames writes it; empty: unknown
  std::optional<text::Address> address{};
  Cost cost{};
  Decision decision{};
};

void append_denial(std::string& out, const Denial& denial);

void append_suppressed(std::string& out, Instant time, std::uint64_t count);

// An address without its end: 203.0.113.0/24, 2001:db8:1::/48.
[[nodiscard]] std::string truncated(const text::Address& address);

}  // namespace weir::observe
