// The JSON lines of the log. Pure functions; thread-safe.
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

void append_message(std::string& out, Instant time, Level level, std::string_view message);

// A denial without personal data: the consumer is hashed, the address is truncated, and the path is the route template.
struct Denial {
  Instant time{};
  std::string_view reason{};
  std::string_view limit{};   // empty: no particular limit
  std::string_view method{};  // as sent, truncated; empty: unknown
  std::string_view route{};
  std::string_view tier{};      // empty: none
  std::string_view consumer{};  // as ConsumerNames writes it; empty: unknown
  std::optional<text::Address> address{};
  Cost cost{};
  Decision decision{};
  // Set from trace_ids(); empty: none.
  std::string_view trace_id{};
  std::string_view request_id{};
  std::string_view exception{};  // the id of the override or block that decided; empty: none
};

void append_denial(std::string& out, const Denial& denial);

// The validated ids that a proxy or a client sent to identify a request.
struct TraceIds {
  std::string_view trace_id{};    // from `traceparent` (W3C Trace Context): 32 hexadecimal digits
  std::string_view request_id{};  // from `x-request-id`: up to 128 letters, digits and -_.:=+/@
};

// Views into the query's headers. Malformed and duplicate headers are ignored.
[[nodiscard]] TraceIds trace_ids(const Query& query) noexcept;

// A change that an operator made.
struct MadeChange {
  std::string what{};      // `reset`, `reload`, `set override`, `remove block`
  std::string limit{};     // the limit or domain; empty: none
  std::string consumer{};  // as ConsumerNames writes it; empty: none
  std::string outcome{};   // `done`, or the error
  std::string id{};        // of the override or block; empty: none
  std::string by{};        // the name of the operator's token; empty: unknown
};

void append_change(std::string& out, Instant time, const MadeChange& change);

// A sudden burst (spikes.h), in decisions or denials per second.
struct SpikeLine {
  std::string_view limit{};
  std::string_view consumer{};  // as ConsumerNames writes it; empty: the limit as a whole
  double rate = 0;
  double past = 0;
  std::uint32_t seconds = 0;  // the period that `rate` is measured over
};

void append_spike(std::string& out, Instant time, const SpikeLine& spike);

void append_suppressed(std::string& out, Instant time, std::uint64_t count);

// The network of an address: 203.0.113.0/24, 2001:db8:1::/48.
[[nodiscard]] std::string truncated(const text::Address& address);

}  // namespace weir::observe
