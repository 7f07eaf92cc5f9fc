// One request as an access log tells it.
//
// The texts are views, into the line that was parsed or into its parser: they hold until the parser's next
// line. LineOrder copies what it keeps. What the log does not say, or says as "-", is empty.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "weir/time.h"

namespace weir::simulate {

// How fine the log writes its times. Of lines stamped with the same whole second, only the order is known.
enum class Grain : std::uint8_t { second, finer };

struct Header {
  std::string_view name;
  std::string_view value;

  friend bool operator==(const Header&, const Header&) = default;
};

struct LogEntry {  // each member is initialised, so that any of them may be left out
  Instant at{};    // between the years 0 and 9999
  std::string_view ip{};
  std::string_view user{};
  std::string_view api_key{};
  std::string_view tier{};
  std::string_view method{};
  std::string_view target{};  // as sent: path and query, escapes of the log taken back, percent-encoding kept
  std::span<const Header> headers{};
  std::uint16_t status = 0;  // zero: the log does not say
  Grain grain = Grain::second;
};

}  // namespace weir::simulate
