// The numbers, times and sentences of the reports.
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

// `64.2 %`, or a dash if `whole` is 0. Only zero is written as `0.0 %`, and only the whole as `100.0 %`.
[[nodiscard]] std::string percent(std::uint64_t part, std::uint64_t whole);

// `1,999`, `12.3`, `0.42`: three significant digits, or the whole integer part.
[[nodiscard]] std::string rounded(double number);

// 2023-10-10 13:55:36, in UTC
[[nodiscard]] std::string time_text(Instant at);

// `16 min 40 s`: the two largest units.
[[nodiscard]] std::string length_text(Duration length);

// `1 line`, `2 lines`
[[nodiscard]] std::string counted(std::uint64_t count, const char* one, const char* many);

// `burst 48`, `limit at most 48`
[[nodiscard]] std::string need_text(const Demand& demand, std::uint64_t number);

// `50,000`, or `49,876 (one in 4)` for a sample.
[[nodiscard]] std::string sample_text(const Demand& demand);

// One sentence per property of requests that the policy needs and the log lacks. Shown next to the figures, which may
// then differ greatly from what would have happened.
inline constexpr const char* cautions_title = "Missing from the log: the figures may be wrong";
[[nodiscard]] std::vector<std::string> cautions_on(const LogReport& log);

// One sentence per peculiarity of the log.
[[nodiscard]] std::vector<std::string> remarks_on(const LogReport& log);

// `On 4 nodes, leased, 1 ms from the store, requests round-robin`
[[nodiscard]] std::string title_of(const NodesReport& nodes);

// One sentence on the requests without a round trip and the messages to the store.
[[nodiscard]] std::string traffic_of(const NodesReport& nodes);

// The legend of the estimates' columns, in lines of at most 120 characters.
[[nodiscard]] const std::vector<std::string>& words_on_estimates();

inline constexpr std::size_t max_display_length = 120;  // bytes

// Sanitizes text from a log, which clients control: terminal escape sequences, bidirectional marks, invalid UTF-8. Each
// control or formatting character and each invalid byte becomes U+FFFD. A long text is truncated with an ellipsis.
// Markup stays: the writer of the markup escapes it.
[[nodiscard]] std::string display_text(std::string_view text);

// The number of characters; `text` must be valid UTF-8.
[[nodiscard]] std::size_t display_width(std::string_view text) noexcept;

// At most `width` characters, the last an ellipsis if truncated.
[[nodiscard]] std::string fitted(std::string_view text, std::size_t width);

}  // namespace weir::simulate
