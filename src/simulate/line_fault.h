// Why a line of a log is no entry, and the tally of it: how many of each kind, and the first few with their
// place, so that a person can look.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "simulate/log_entry.h"

namespace weir::simulate {

enum class Fault : std::uint8_t {
  no_address,         // combined: the line does not begin with an address, an identity and a user
  no_time,            // combined: nothing in square brackets; JSON: none of the fields for the time
  bad_time,           // there is one, but it is no time of the calendar
  no_quoted_request,  // combined: no request in quotes after the time, or its end is missing
  no_request,         // the client sent none ("-", ""), so no limiter would have seen it; JSON: no target
  bad_request,        // neither METHOD TARGET nor METHOD TARGET PROTOCOL; TLS spoken to a plain port is this
  not_json,           // JSON: not one well-formed object
};
inline constexpr std::size_t fault_kinds = 7;

// A sentence for people.
[[nodiscard]] std::string_view describe(Fault fault) noexcept;

using Parsed = tl::expected<LogEntry, Fault>;

// Bounded: keeps `most_examples` excerpts. One thread.
class FaultTally {
 public:
  static constexpr std::size_t most_examples = 5;
  static constexpr std::size_t longest_excerpt = 120;

  struct Example {
    std::uint64_t line_number = 0;
    Fault fault{};
    std::string excerpt;  // printable ASCII; other bytes as '?'
  };

  void add(Fault fault, std::uint64_t line_number, std::string_view line);

  [[nodiscard]] std::uint64_t count(Fault fault) const noexcept { return counts_[static_cast<std::size_t>(fault)]; }
  [[nodiscard]] std::uint64_t total() const noexcept;
  [[nodiscard]] const std::vector<Example>& examples() const noexcept { return examples_; }

 private:
  std::array<std::uint64_t, fault_kinds> counts_{};
  std::vector<Example> examples_;
};

}  // namespace weir::simulate
