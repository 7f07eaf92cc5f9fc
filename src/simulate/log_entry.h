// One request as an access log tells it; or why a line is none.
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

// The texts are views, into the line that was parsed or into its parser: they hold until the parser's next line.
// LineOrder copies what it keeps. What the log does not say, or says as "-", is empty.
struct LogEntry {  // each member is initialised, so that any of them may be left out
  Instant at{};    // between the years 0 and 9999
  std::string_view ip{};
  std::string_view user{};
  std::string_view api_key{};
  std::string_view tier{};
  std::string_view method{};
  std::string_view target{};  // as sent: path and query, escapes of the log taken back, percent-encoding kept
  std::span<const Header> headers{};
  std::optional<Cost> cost{};          // what it turned out to cost
  std::optional<Duration> duration{};  // a microsecond at least
  std::uint16_t status = 0;            // zero: the log does not say
  Grain grain = Grain::second;
};

// Why a line is no entry.
enum class Fault : std::uint8_t {
  no_address,         // combined: the line does not begin with an address, an identity and a user
  no_time,            // combined: nothing in square brackets; JSON: none of the fields for the time
  bad_time,           // there is one, but it is no time of the calendar
  no_quoted_request,  // combined: no request in quotes after the time, or its end is missing
  no_request,         // the client sent none ("-", ""), so no limiter would have seen it; JSON: no target
  bad_request,        // neither METHOD TARGET nor METHOD TARGET PROTOCOL; TLS spoken to a plain port is this
  not_json,           // JSON: not one well-formed object
  bad_cost,           // JSON: the field that was named for it has something else
};
inline constexpr std::size_t fault_kinds = 8;

struct FaultWords {
  std::string_view name;      // in JSON
  std::string_view sentence;  // for people
};
inline constexpr std::array<FaultWords, fault_kinds> fault_words{{
    {"no_address", "the line does not begin with an address, an identity and a user"},
    {"no_time", "there is no time"},
    {"bad_time", "the time is unreadable"},
    {"no_quoted_request", "there is no request in quotes after the time"},
    {"no_request", "the client sent no request"},
    {"bad_request", "the request is not METHOD TARGET PROTOCOL"},
    {"not_json", "the line is not a well-formed JSON object"},
    {"bad_cost", "the cost is not a whole number up to 4294967295"},
}};
[[nodiscard]] constexpr std::string_view name_of(Fault fault) noexcept {
  return fault_words[static_cast<std::size_t>(fault)].name;
}
[[nodiscard]] constexpr std::string_view describe(Fault fault) noexcept {
  return fault_words[static_cast<std::size_t>(fault)].sentence;
}

using Parsed = tl::expected<LogEntry, Fault>;

// How many lines had which fault, and the first few with their place, so that a person can look. One thread.
class FaultTally {
 public:
  static constexpr std::size_t max_examples = 5;
  static constexpr std::size_t max_excerpt_length = 120;

  struct Example {
    std::uint64_t line_number = 0;
    Fault fault{};
    std::string excerpt;  // printable ASCII; other bytes as '?'
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

// By the first line of a log that is not empty: JSON lines begin with a brace, and no address does.
[[nodiscard]] constexpr LogFormat detect_format(std::string_view line) noexcept {
  const std::size_t first = line.find_first_not_of(" \t");
  return first != std::string_view::npos && line[first] == '{' ? LogFormat::json : LogFormat::combined;
}

}  // namespace weir::simulate
