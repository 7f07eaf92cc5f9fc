#include "simulate/report_words.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/core.h>

#include "policy/words.h"
#include "text/utf8.h"

namespace weir::simulate {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";
constexpr std::string_view ellipsis = "\xE2\x80\xA6";

}  // namespace

std::string display_text(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const std::size_t length = text::utf8_length(text);
    const bool is_shown = length > 0 && !text::is_hidden(text::first_code_point(text));
    const std::string_view written = is_shown ? text.substr(0, length) : replacement;
    if (shown.size() + written.size() > max_display_length) return shown.append(ellipsis);
    shown += written;
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return shown;
}

std::size_t display_width(std::string_view text) noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return !text::continues_character(c); }));
}

std::string fitted(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  std::size_t end = 0;
  for (std::size_t seen = 0; end < text.size(); ++end) {
    if (!text::continues_character(text[end]) && ++seen == width) break;
  }
  return std::string(text.substr(0, end)).append(ellipsis);
}

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
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
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::gmtime(static_cast<std::time_t>(second_of(at))));
}

std::string length_text(Duration length) {
  struct Unit {
    std::int64_t length;
    const char* name;
  };
  constexpr std::array<Unit, 4> units{{{86'400, "d"}, {3'600, "h"}, {60, "min"}, {1, "s"}}};
  std::int64_t left = std::chrono::duration_cast<std::chrono::seconds>(length).count();
  std::string text;
  int written = 0;
  for (const Unit& unit : units) {
    const std::int64_t count = left / unit.length;
    left %= unit.length;
    if (count == 0 && written == 0) continue;
    if (++written > 2) break;
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : " ", count, unit.name);
  }
  return text.empty() ? "0 s" : text;
}

std::string counted(std::uint64_t count, const char* one, const char* many) {
  return grouped(count) + " " + (count == 1 ? one : many);
}

std::string title_of(const NodesReport& nodes) {
  return fmt::format("On {}, {}, {} from the store, requests {}", counted(nodes.nodes, "node", "nodes"),
                     nodes.consistency.empty() ? "as configured" : nodes.consistency,
                     nodes.round_trip == Duration::zero() ? "0 ms" : policy::duration_text(nodes.round_trip),
                     nodes.spread == Spread::client ? "by client" : "round-robin");
}

std::string traffic_of(const NodesReport& nodes) {
  return fmt::format("{} of the requests without a round trip; {} to the store, {}/s, at most {} in one second",
                     percent(nodes.without_round_trip, nodes.covered),
                     counted(nodes.messages.requests, "message", "messages"), rounded(nodes.messages_per_second),
                     grouped(nodes.messages.second.count));
}

std::string need_text(const Demand& demand, std::uint64_t number) {
  return demand.word + (demand.upper_bound ? " at most " : " ") + grouped(number);
}

std::string sample_text(const Demand& demand) {
  const std::string looked_at = grouped(demand.consumers);
  return demand.one_in == 1 ? looked_at : looked_at + " (one in " + grouped(demand.one_in) + ")";
}

std::vector<std::string> cautions_on(const LogReport& log) {
  std::vector<std::string> cautions;
  const std::string_view use = log.format == LogFormat::combined ? "write the log as JSON lines and use" : "use";
  for (const LogGap& gap : log.gaps) {
    const std::string limits = policy::list_text(gap.limits);
    if (gap.what == "tier") {
      cautions.push_back(
          fmt::format("no line has a tier: all requests count as tier '{}', but {} {} tiers; use --tiers FILE or "
                      "--field tier=PATH",
                      log.default_tier, limits, gap.limits.size() == 1 ? "distinguishes" : "distinguish"));
    } else {
      const bool is_header = gap.what.starts_with("header:");
      const std::string what = is_header            ? "the header " + gap.what.substr(7)
                               : gap.what == "user" ? std::string("a user")
                                                    : std::string("an API key");
      cautions.push_back(
          fmt::format("no line has {}, but {} {} keyed by it: all requests are decided without one; {} --field {}=PATH",
                      what, limits, gap.limits.size() == 1 ? "is" : "are", use, gap.what));
    }
  }
  if (log.unlisted_users > 0) {
    cautions.push_back(fmt::format("{} that --tiers does not list: counted as tier '{}'",
                                   counted(log.unlisted_users, "request has a user", "requests have users"),
                                   log.default_tier));
  }
  return cautions;
}

std::vector<std::string> remarks_on(const LogReport& log) {
  std::vector<std::string> remarks;
  for (std::size_t kind = 0; kind < fault_kinds; ++kind) {
    if (log.faults[kind] == 0) continue;
    remarks.push_back(counted(log.faults[kind], "line", "lines") +
                      " not parsed: " + std::string(fault_words[kind].sentence));
  }
  if (log.overlong_lines > 0) {
    remarks.push_back(counted(log.overlong_lines, "line was", "lines were") + " too long and skipped");
  }
  if (log.late > 0) {
    remarks.push_back(counted(log.late, "line was", "lines were") +
                      " too far out of order to be sorted, and replayed at the time of the preceding request");
  }
  if (log.left_early > 0) {
    remarks.push_back("the log is too dense: " + counted(log.left_early, "line was", "lines were") +
                      " sorted within a shorter span than requested");
  }
  if (log.whole_second_entries > 0) {
    const char* const how = log.whole_seconds == WholeSeconds::spread
                                ? ": requests of one second were spread evenly over it, which understates bursts on a "
                                  "quiet log"
                                : ": requests of one second were placed at its start, the worst case for a limit";
    remarks.push_back(counted(log.whole_second_entries, "line has", "lines have") + " a time in whole seconds" + how);
  }
  if (log.without_cost > 0) {
    remarks.push_back(counted(log.without_cost, "request has", "requests have") + " no cost and " +
                      (log.without_cost == 1 ? "counts" : "count") + " as 1");
  }
  if (log.held_for_lease > 0) {
    remarks.push_back(counted(log.held_for_lease, "request has", "requests have") +
                      " no duration: concurrency limits held their units until the lease expired");
  }
  if (log.settled_at_once > 0) {
    remarks.push_back(counted(log.settled_at_once, "request has", "requests have") +
                      " no duration: reservations were settled immediately");
  }
  for (const std::string& problem : log.problems) remarks.push_back("the log is incomplete: " + problem);
  return remarks;
}

const std::vector<std::string>& words_on_estimates() {
  static const std::vector<std::string> words{
      "newly: compared with costs known in advance. report: checked at cost 0, charged at the end.",
      "given back: reserved and not spent; wasted: the same times the seconds it was reserved; overspent: charged at "
      "the",
      "end beyond the remaining quota. Units are those of the cost.",
  };
  return words;
}

}  // namespace weir::simulate
