// Numbers, times and texts as the reports write them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulate/report.h"
#include "weir/time.h"

namespace weir::simulate {

// 1,234,567
[[nodiscard]] std::string grouped(std::uint64_t number);

// `64.2 %`; of nothing, a dash. What is not zero does not read `0.0 %`, and what is not all not `100.0 %`.
[[nodiscard]] std::string percent(std::uint64_t part, std::uint64_t whole);

// `1,999`, `12.3`, `0.42`: three digits, or all before the point.
[[nodiscard]] std::string rounded(double number);

// 2023-10-10 13:55:36, in UTC
[[nodiscard]] std::string time_text(Instant at);

// `16 min 40 s`: the two largest units.
[[nodiscard]] std::string length_text(Duration length);

// `1 line`, `2 lines`
[[nodiscard]] std::string counted(std::uint64_t count, const char* one, const char* many);

// `burst 48`, `limit at most 48`
[[nodiscard]] std::string need_text(const Demand& demand, std::uint64_t number);

// `50,000`, or `49,876 (one in 4)` of a sample.
[[nodiscard]] std::string sample_text(const Demand& demand);

// Why the figures may be far from what would have happened, a sentence each: what the policy needs to know of requests,
// and the log does not say. To be shown beside the figures.
inline constexpr const char* cautions_title = "Missing from the log: the figures may be wrong";
[[nodiscard]] std::vector<std::string> cautions_on(const LogReport& log);

// What a reader has to know about how the log was read, a sentence each.
[[nodiscard]] std::vector<std::string> remarks_on(const LogReport& log);

// `On 4 nodes, leased, 1 ms from the store, requests in turn`
[[nodiscard]] std::string title_of(const NodesReport& nodes);

// How many requests needed no trip, and what the store got, in one sentence.
[[nodiscard]] std::string traffic_of(const NodesReport& nodes);

// What the columns of the estimates mean, for lines of at most 120 characters.
[[nodiscard]] const std::vector<std::string>& words_on_estimates();

// Text from a log, made fit to be shown. Logs hold whatever strangers sent: escape sequences for the terminal, marks
// that turn the direction of writing, broken UTF-8.
inline constexpr std::size_t max_display_length = 120;  // bytes

// Valid UTF-8 without control and formatting characters, each of which, and each broken byte, becomes U+FFFD.
// What is too long is cut, and ends with an ellipsis. Markup is not touched: its writer escapes it.
[[nodiscard]] std::string display_text(std::string_view text);

// How many characters a text has that is valid UTF-8.
[[nodiscard]] std::size_t display_width(std::string_view text) noexcept;

// At most `width` characters, the last an ellipsis if it was cut.
[[nodiscard]] std::string fitted(std::string_view text, std::size_t width);

}  // namespace weir::simulate
