// Numbers and times as the reports write them.
#pragma once

#include <cstdint>
#include <string>
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

// 2023-10-10T13:55:36Z
[[nodiscard]] std::string rfc3339(Instant at);

// `16 min 40 s`: the two largest units.
[[nodiscard]] std::string length_text(Duration length);

// `1 line`, `2 lines`
[[nodiscard]] std::string counted(std::uint64_t count, const char* one, const char* many);

// `burst 48`, `limit at most 48`
[[nodiscard]] std::string need_text(const Demand& demand, std::uint64_t number);

// `50,000`, or `49,876 (one in 4)` of a sample.
[[nodiscard]] std::string sample_text(const Demand& demand);

// What a reader has to know about how the log was read, a sentence each.
[[nodiscard]] std::vector<std::string> remarks_on(const LogReport& log);

}  // namespace weir::simulate
