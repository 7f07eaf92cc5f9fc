// One request in an access log, and the reasons why a line is not a request.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "text/date.h"
#include "weir/cost.h"
#include "weir/header.h"
#include "weir/time.h"

namespace weir::simulate {

using text::Grain;

// The texts are views into the parsed line or its parser, valid until the parser's next line. Absent values, or "-",
// are empty.
struct LogEntry {  // each member is initialised, so that an initializer may omit it
  Instant at{};    // between the years 0 and 9999
  std::string_view ip{};
  std::string_view user{};
  std::string_view api_key{};
  std::string_view tier{};
  std::string_view method{};
  std::string_view target{};  // path and query as sent: unescaped from the log, with percent-encoding
  std::span<const Header> headers{};
  std::optional<Cost> cost{};          // the actual cost
  std::optional<Duration> duration{};  // at least 1 us
  std::uint16_t status = 0;            // zero if absent
  Grain grain = Grain::second;
};

// The reason why a line is not an entry.
enum class Fault : std::uint8_t {
  no_address,         // combined: the line does not begin with an address, an identity and a user
  no_time,            // combined: nothing in square brackets; JSON: no time field
  bad_time,           // not a valid time
  no_quoted_request,  // combined: no request in quotes after the time, or no closing quote
  no_request,         // the client sent none ("-", ""), so no limiter would have seen it; JSON: no target
  bad_request,        // neither METHOD TARGET nor METHOD TARGET PROTOCOL, for example TLS on a plain port
  not_json,           // JSON: not a single well-formed object
  bad_cost,           // JSON: the cost field is not a valid cost
};
inline constexpr std::size_t fault_kinds = 8;

struct FaultWords {
  std::string_view name;      // the name in JSON
  std::string_view sentence;  // the description for people
};
inline constexpr std::array<FaultWords, fault_kinds> fault_words{{
    {"no_address", "does not begin with an address, an identity and a user"},
    {"no_time", "missing time"},
    {"bad_time", "invalid time"},
    {"no_quoted_request", "no quoted request after the time"},
    {"no_request", "empty request"},
    {"bad_request", "request is not METHOD TARGET PROTOCOL"},
    {"not_json", "not a well-formed JSON object"},
    {"bad_cost", "cost is not a whole number up to 4294967295"},
}};
[[nodiscard]] constexpr std::string_view name_of(Fault fault) noexcept {
  return fault_words[static_cast<std::size_t>(fault)].name;
}
[[nodiscard]] constexpr std::string_view describe(Fault fault) noexcept {
  return fault_words[static_cast<std::size_t>(fault)].sentence;
}

using Parsed = tl::expected<LogEntry, Fault>;

// Counts faults and keeps the first few lines as examples. Not thread-safe.
class FaultTally {
 public:
  static constexpr std::size_t max_examples = 5;
  static constexpr std::size_t max_excerpt_length = 120;

  struct Example {
    std::uint64_t line_number = 0;
    Fault fault{};
    std::string excerpt;  // printable ASCII; other bytes are '?'
  };

  void add(Fault fault, std::uint64_t line_number, std::string_view line) {
    ++counts_[static_cast<std::size_t>(fault)];
    if (examples_.size() >= max_examples) return;
    std::string excerpt(line.substr(0, max_excerpt_length));
    std::ranges::replace_if(excerpt, [](char c) { return c < ' ' || c > '~'; }, '?');
    examples_.push_back({line_number, fault, std::move(excerpt)});
  }

  [[nodiscard]] std::uint64_t count(Fault fault) const noexcept { return counts_[static_cast<std::size_t>(fault)]; }
  [[nodiscard]] std::uint64_t total() const noexcept {
    return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
  }
  [[nodiscard]] const std::vector<Example>& examples() const noexcept { return examples_; }

 private:
  std::array<std::uint64_t, fault_kinds> counts_{};
  std::vector<Example> examples_;
};

enum class LogFormat : std::uint8_t { combined, json };

// Detects the format from the first non-empty line: JSON lines begin with a brace, and no address does.
[[nodiscard]] constexpr LogFormat detect_format(std::string_view line) noexcept {
  const std::size_t first = line.find_first_not_of(" \t");
  return first != std::string_view::npos && line[first] == '{' ? LogFormat::json : LogFormat::combined;
}

}  // namespace weir::simulate
