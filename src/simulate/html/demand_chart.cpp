#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <fmt/core.h>

#include "simulate/html/axis.h"
#include "simulate/html/charts.h"
#include "simulate/html/escape.h"
#include "simulate/limit_demand.h"
#include "simulate/report_words.h"

namespace weir::simulate::html {
namespace {

using Bars = std::vector<Demand::Bar>;

constexpr double line_height = 14;
constexpr double label_width = 110;

struct Marker {
  const char* css_class;
  std::string label;
  std::uint64_t value;
};

std::string range_text(const Demand::Bar& bar) {
  return bar.from == bar.to ? grouped(bar.from) : grouped(bar.from) + "\xE2\x80\x93" + grouped(bar.to);
}

// The bars from the lowest value of interest to the highest, with empty ones where nobody is.
Bars bars_to_show(const Demand& demand) {
  const std::uint64_t lowest = std::min(demand.bars.front().from, demand.present);
  const std::uint64_t highest = std::max(demand.bars.back().from, demand.present);
  Bars shown;
  for (Demand::Bar bar : bars_between(lowest, highest)) {
    const auto same = std::ranges::find(demand.bars, bar.from, &Demand::Bar::from);
    if (same != demand.bars.end()) bar.consumers = same->consumers;
    shown.push_back(bar);
  }
  return shown;
}

// Where the right end of a value is, in bars from the left: what fits is on its left.
double place_of(const Bars& bars, std::uint64_t value) {
  for (std::size_t i = 0; i < bars.size(); ++i) {
    if (value > bars[i].to) continue;
    const double from = static_cast<double>(bars[i].from);
    const double share = (static_cast<double>(value) + 1 - from) / (static_cast<double>(bars[i].to) + 1 - from);
    return static_cast<double>(i) + share;
  }
  return static_cast<double>(bars.size());
}

std::string draw_markers(const Frame& frame, const Demand& demand, const Bars& bars) {
  const Demand::Quantiles& need = demand.rates.front().number;
  const std::array<Marker, 3> markers{{
      {"now", fmt::format("now {} {}", demand.word, grouped(demand.present)), demand.present},
      {"mark", "99 %: " + grouped(need.p99), need.p99},
      {"mark", "99.9 %: " + grouped(need.p999), need.p999},
  }};
  std::array<double, markers.size()> across{};
  for (std::size_t i = 0; i < markers.size(); ++i) {
    across[i] = frame.left + place_of(bars, markers[i].value) / static_cast<double>(bars.size()) * frame.across();
  }
  std::string drawn;
  double y = frame.top + line_height - 4;
  for (std::size_t i = 0; i < markers.size(); ++i) {
    const double x = across[i];
    // A label goes to the left where on the right it would meet the edge or another marker.
    const bool to_left =
        std::ranges::any_of(across, [&](double other) { return other > x && other < x + label_width; }) ||
        x > frame.right - label_width;
    drawn += fmt::format(R"(<line class="{0}" x1="{1:.1f}" x2="{1:.1f}" y1="{2:.1f}" y2="{3}"/>)", markers[i].css_class,
                         x, y - 10, frame.bottom);
    drawn += fmt::format(R"(<text class="{}-label{}" x="{:.1f}" y="{:.1f}">{}</text>)", markers[i].css_class,
                         to_left ? " end" : "", to_left ? x - 5 : x + 5, y, escaped(markers[i].label));
    y += line_height;
  }
  return drawn;
}

}  // namespace

std::string demand_chart(const Demand& demand, const std::string& title) {
  if (demand.bars.empty() || demand.rates.empty()) return {};
  Frame frame;
  frame.top += 12;  // the markers' labels begin above the bars
  const Bars bars = bars_to_show(demand);
  const LogAxis axis(static_cast<double>(std::ranges::max(bars, {}, &Demand::Bar::consumers).consumers));
  std::string drawn =
      fmt::format(R"(<div class="chart"><svg viewBox="0 0 {} {}" role="img"><title>{}</title><desc>{}</desc>)",
                  frame.width, frame.height, escaped(title),
                  escaped(fmt::format("{} of {} consumers fit the present {} of {}.", grouped(demand.satisfied),
                                      grouped(demand.consumers), demand.word, grouped(demand.present))));
  drawn += draw_vertical(frame, axis.ticks, "consumers, logarithmic scale");
  const double width = frame.across() / static_cast<double>(bars.size());
  const std::size_t label_every = bars.size() / 16 + 1;
  std::vector<Tick> ticks;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const Demand::Bar& bar = bars[i];
    const double height = axis.place_of(static_cast<double>(bar.consumers)) * frame.down();
    const double x = frame.left + static_cast<double>(i) * width;
    if (i % label_every == 0)
      ticks.push_back({(static_cast<double>(i) + 0.5) * width / frame.across(), grouped(bar.from)});
    if (bar.consumers == 0) continue;
    drawn += fmt::format(
        R"(<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="1"><title>{} {}: {}</title></rect>)",
        bar.from > demand.present ? "denied" : "admitted", x + 1, frame.bottom - height, std::max(1.0, width - 2),
        height, escaped(demand.word), range_text(bar), counted(bar.consumers, "consumer", "consumers"));
  }
  drawn += draw_horizontal(frame, ticks,
                           fmt::format("{} needed at {}, logarithmic scale", demand.word, demand.rates.front().rate));
  drawn += draw_markers(frame, demand, bars);
  return drawn + "</svg></div>\n";
}

}  // namespace weir::simulate::html
