#include "simulate/report_words.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/core.h>

namespace weir::simulate {
namespace {

std::tm utc_of(Instant at) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count();
  return fmt::gmtime(static_cast<std::time_t>(seconds));
}

}  // namespace

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "-";
  const double share = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  if (part > 0 && share < 0.05) return "< 0.1 %";
  if (part < whole && share >= 99.95) return "> 99.9 %";
  return fmt::format("{:.1f} %", share);
}

std::string rounded(double number) {
  if (number == 0) return "0";
  if (number >= 999.5) return grouped(static_cast<std::uint64_t>(std::llround(number)));
  if (number >= 99.95) return fmt::format("{:.0f}", number);
  if (number >= 9.995) return fmt::format("{:.1f}", number);
  if (number >= 0.01) return fmt::format("{:.2f}", number);
  return fmt::format("{:.2g}", number);
}

std::string time_text(Instant at) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", utc_of(at));
}

std::string rfc3339(Instant at) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", utc_of(at));
}

std::string length_text(Duration length) {
  struct Unit {
    std::int64_t seconds;
    const char* name;
  };
  constexpr std::array<Unit, 4> units{{{86'400, "d"}, {3'600, "h"}, {60, "min"}, {1, "s"}}};
  std::int64_t left = std::chrono::duration_cast<std::chrono::seconds>(length).count();
  std::string text;
  int written = 0;
  for (const Unit& unit : units) {
    const std::int64_t count = left / unit.seconds;
    left %= unit.seconds;
    if (count == 0 && written == 0) continue;
    if (++written > 2) break;
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : " ", count, unit.name);
  }
  return text.empty() ? "0 s" : text;
}

std::string counted(std::uint64_t count, const char* one, const char* many) {
  return grouped(count) + " " + (count == 1 ? one : many);
}

std::string need_text(const Demand& demand, std::uint64_t number) {
  return demand.word + (demand.upper_bound ? " at most " : " ") + grouped(number);
}

std::string sample_text(const Demand& demand) {
  const std::string looked_at = grouped(demand.consumers);
  return demand.one_in == 1 ? looked_at : looked_at + " (one in " + grouped(demand.one_in) + ")";
}

std::vector<std::string> remarks_on(const LogReport& log) {
  std::vector<std::string> remarks;
  for (std::size_t kind = 0; kind < fault_kinds; ++kind) {
    if (log.faults[kind] == 0) continue;
    remarks.push_back(counted(log.faults[kind], "line", "lines") +
                      " not understood: " + std::string(describe(static_cast<Fault>(kind))));
  }
  if (log.overlong_lines > 0) {
    remarks.push_back(counted(log.overlong_lines, "line was", "lines were") + " too long, and skipped");
  }
  if (log.late > 0) {
    remarks.push_back(counted(log.late, "line", "lines") +
                      " came too late to be put in order, and counted at the time of the line before");
  }
  if (log.left_early > 0) {
    remarks.push_back("the log is so dense that " + counted(log.left_early, "line was", "lines were") +
                      " put in order over a shorter stretch than asked for");
  }
  if (log.whole_second_entries > 0) {
    const char* const how = log.whole_seconds == WholeSeconds::spread
                                ? ": those of one second were spread over it evenly, in their order, which draws out "
                                  "a burst on a quiet log"
                                : ": those of one second were taken to come at once, which is the worst case for a "
                                  "limit";
    remarks.push_back(counted(log.whole_second_entries, "line has", "lines have") + " a time in whole seconds" + how);
  }
  for (const std::string& problem : log.problems) remarks.push_back("the log broke off: " + problem);
  return remarks;
}

}  // namespace weir::simulate
