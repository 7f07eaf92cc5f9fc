// What the log says, as lines of JSON. Callable from any thread.
//
//   {"time":"2026-01-05T12:00:00.000000Z","level":"info","message":"..."}
//   {"time":"2026-01-05T12:00:00.000000Z","event":"denied","reason":"exceeded","limit":"login",...}
//   {"time":"2026-01-05T12:00:00.000000Z","event":"suppressed","count":12}
//   {"time":"2026-01-05T12:00:00.000000Z","event":"change","what":"reset","limit":"login",...}
//   {"time":"2026-01-05T12:00:00.000000Z","event":"spike","limit":"login","rate":5010,"past":990,"seconds":3}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/verdict.h"
#include "text/address.h"
#include "weir/cost.h"
#include "weir/decision.h"
#include "weir/query.h"
#include "weir/time.h"

namespace weir::observe {

enum class Level : std::uint8_t { info, warning, error };

[[nodiscard]] std::string_view name_of(Level level) noexcept;

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
  // By which the request is known elsewhere, as trace_ids has found them good; empty: it has none.
  std::string_view trace_id{};
  std::string_view request_id{};
};

void append_denial(std::string& out, const Denial& denial);

// What a proxy or a client sent for a request to be known by, checked before it is written anywhere.
struct TraceIds {
  std::string_view trace_id{};    // of `traceparent` (W3C Trace Context): 32 hexadecimal digits
  std::string_view request_id{};  // of `x-request-id`: up to 128 letters, digits and -_.:=+/@
};

// Views into the query's headers; what is malformed or there twice is left out.
[[nodiscard]] TraceIds trace_ids(const Query& query) noexcept;

// What an operator did by hand.
struct MadeChange {
  std::string what{};      // `reset`, `reload`
  std::string limit{};     // or a domain; empty: it is about none
  std::string consumer{};  // as ConsumerNames writes it; empty: it is about none
  std::string outcome{};   // `done`, or why not
};

void append_change(std::string& out, Instant time, const MadeChange& change);

// A sudden burst (spikes.h), in decisions or denials a second.
struct SpikeLine {
  std::string_view limit{};
  std::string_view consumer{};  // as ConsumerNames writes it; empty: all of the limit
  double rate = 0;
  double past = 0;
  std::uint32_t seconds = 0;  // over which it is counted
};

void append_spike(std::string& out, Instant time, const SpikeLine& spike);

void append_suppressed(std::string& out, Instant time, std::uint64_t count);

// An address without its end: 203.0.113.0/24, 2001:db8:1::/48.
[[nodiscard]] std::string truncated(const text::Address& address);

}  // namespace weir::observe
