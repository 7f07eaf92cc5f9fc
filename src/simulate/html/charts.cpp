#include "simulate/html/charts.h"

#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include "simulate/html/axis.h"
#include "simulate/html/escape.h"
#include "simulate/report_words.h"

namespace weir::simulate::html {
namespace {

std::string open_svg(const Frame& frame, const std::string& title, const std::string& description) {
  return fmt::format(R"(<div class="chart"><svg viewBox="0 0 {} {}" role="img"><title>{}</title><desc>{}</desc>)",
                     frame.width, frame.height, escaped(title), escaped(description));
}

constexpr const char* close_svg = "</svg></div>\n";

double per_second(const Timeline& timeline, std::size_t bin, std::uint64_t count) {
  return static_cast<double>(count) / std::chrono::duration<double>(timeline.covered(bin)).count();
}

Instant end_of(const Timeline& timeline) {
  return timeline.start() + timeline.width() * static_cast<Duration::rep>(timeline.bins().size());
}

// The outline of steps, one for each height, as points of a path.
std::string steps(const Frame& frame, const std::vector<double>& heights, double top, double bins) {
  std::string path;
  for (std::size_t i = 0; i < heights.size(); ++i) {
    const double y = frame.bottom - heights[i] / top * frame.down();
    const double x1 = frame.left + static_cast<double>(i) / bins * frame.across();
    const double x2 = frame.left + static_cast<double>(i + 1) / bins * frame.across();
    path += fmt::format("{}{:.1f} {:.1f}H{:.1f}", i == 0 ? "" : "L", x1, y, x2);
  }
  return path;
}

std::string area(const Frame& frame, const std::vector<double>& heights, double top, const char* css_class) {
  if (heights.empty()) return {};
  return fmt::format(R"(<path class="{}" d="M{} {}L{}V{}Z"/>)", css_class, frame.left, frame.bottom,
                     steps(frame, heights, top, static_cast<double>(heights.size())), frame.bottom);
}

// Invisible, over each bin: what a pointer that rests there is told.
std::string hints(const Frame& frame, const Timeline& timeline) {
  std::string drawn;
  const auto count = static_cast<double>(timeline.bins().size());
  for (std::size_t i = 0; i < timeline.bins().size(); ++i) {
    const Timeline::Bin& bin = timeline.bins()[i];
    const Instant at = timeline.start() + timeline.width() * static_cast<Duration::rep>(i);
    drawn += fmt::format(
        R"(<rect class="hint" x="{:.1f}" y="{}" width="{:.2f}" height="{}"><title>{}: {} admitted, {} denied</title></rect>)",
        frame.left + static_cast<double>(i) / count * frame.across(), frame.top, frame.across() / count, frame.down(),
        time_text(at), grouped(bin.admitted), grouped(bin.denied));
  }
  return drawn;
}

std::vector<double> denied_per_second(const Timeline& timeline) {
  std::vector<double> rates;
  for (const auto& bin : timeline.bins()) rates.push_back(per_second(timeline, rates.size(), bin.denied));
  return rates;
}

std::string bin_text(const Timeline& timeline) {
  return "UTC, each step " + length_text(timeline.width());
}

}  // namespace

std::string timeline_chart(const Timeline& timeline, const std::string& title) {
  const Frame frame;
  const std::vector<double> denied = denied_per_second(timeline);
  std::vector<double> all;
  for (const auto& bin : timeline.bins()) all.push_back(per_second(timeline, all.size(), bin.admitted + bin.denied));
  const LinearAxis axis(all.empty() ? 1 : *std::ranges::max_element(all));
  std::string drawn = open_svg(frame, title, "Requests per second, admitted and on top of them denied, over time.");
  drawn += draw_vertical(frame, axis.ticks, "requests per second");
  // The denied are the whole area with the admitted drawn over it.
  std::vector<double> admitted = all;
  for (std::size_t i = 0; i < admitted.size(); ++i) admitted[i] -= denied[i];
  drawn += area(frame, all, axis.top, "denied");
  drawn += area(frame, admitted, axis.top, "admitted");
  drawn += draw_horizontal(frame, time_ticks(timeline.start(), end_of(timeline)), bin_text(timeline));
  drawn += hints(frame, timeline);
  return drawn + close_svg;
}

std::string denials_chart(const Timeline& live, const Timeline& candidate) {
  const Frame frame;
  const std::vector<double> before = denied_per_second(live);
  const std::vector<double> after = denied_per_second(candidate);
  double most = 0;
  for (const auto* rates : {&before, &after}) {
    for (const double rate : *rates) most = std::max(most, rate);
  }
  const LinearAxis axis(most > 0 ? most : 1);
  std::string drawn = open_svg(frame, "Denied over time, present policy and candidate",
                               "Denied requests per second under the present policy and under the candidate.");
  drawn += draw_vertical(frame, axis.ticks, "denied per second");
  drawn += area(frame, before, axis.top, "denied soft");
  if (!after.empty()) {
    drawn += fmt::format(R"(<path class="candidate-line" d="M{}"/>)",
                         steps(frame, after, axis.top, static_cast<double>(after.size())));
  }
  drawn += draw_horizontal(frame, time_ticks(live.start(), end_of(live)), bin_text(live));
  return drawn + close_svg;
}

std::string stacked_bar(const std::vector<Part>& parts) {
  std::uint64_t whole = 0;
  for (const Part& part : parts) whole += part.count;
  std::string bar = R"(<span class="bar" aria-hidden="true">)";
  for (const Part& part : parts) {
    if (part.count == 0) continue;
    bar += fmt::format(R"(<i class="{}" style="width:{:.3f}%" title="{}"></i>)", part.css_class,
                       100.0 * static_cast<double>(part.count) / static_cast<double>(whole),
                       escaped(fmt::format("{}: {}", part.label, grouped(part.count))));
  }
  return bar + "</span>";
}

}  // namespace weir::simulate::html
