#include "simulate/html_charts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/core.h>

#include "simulate/demand.h"
#include "simulate/report_words.h"

namespace weir::simulate::html {
namespace {

// 1, 2 or 5 times a power of ten, at least `least`.
double round_step(double least) {
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

std::string number_label(double number) {
  return number >= 1000 ? rounded(number) : fmt::format("{:g}", number);
}

std::string time_label(std::int64_t second, std::int64_t step) {
  const std::tm at = fmt::gmtime(static_cast<std::time_t>(second));
  if (step >= 86'400) return fmt::format("{:%Y-%m-%d}", at);
  if (second % 86'400 == 0) return fmt::format("{:%m-%d %H:%M}", at);
  return step >= 60 ? fmt::format("{:%H:%M}", at) : fmt::format("{:%H:%M:%S}", at);
}

// Where a chart draws, in the units of its viewBox. Around it there is room for labels.
struct Frame {
  double left = 56;
  double right = 708;
  double top = 24;
  double bottom = 216;
  double width = 720;   // of the whole
  double height = 252;  // of the whole

  [[nodiscard]] double across() const noexcept { return right - left; }
  [[nodiscard]] double down() const noexcept { return bottom - top; }
};

struct Tick {
  double at = 0;  // from 0 to 1 along the axis
  std::string label;
};

// From zero to a round number that is at least `most`.
struct LinearAxis {
  explicit LinearAxis(double most) {
    constexpr double steps = 4;
    const double step = round_step(std::max(most, 1e-9) / steps);
    const double count = std::max(1.0, std::ceil(most / step - 1e-9));
    top = step * count;
    for (double i = 0; i <= count; ++i) ticks.push_back({i / count, number_label(i * step)});
  }

  double top = 1;
  std::vector<Tick> ticks;
};

// From one half to a power of ten, so that a bar of one can be seen.
struct LogAxis {
  explicit LogAxis(double most) {
    while (top < most) top *= 10;
    for (double value = 1; value <= top; value *= 10) {
      ticks.push_back({place_of(value), grouped(static_cast<std::uint64_t>(value))});
    }
  }

  [[nodiscard]] double place_of(double value) const noexcept {
    constexpr double bottom = 0.5;
    if (value <= bottom) return 0;
    return std::log(value / bottom) / std::log(top / bottom);
  }

  double top = 10;
  std::vector<Tick> ticks;
};

// Times in UTC, at most about seven.
std::vector<Tick> time_ticks(Instant from, Instant to) {
  constexpr std::array<std::int64_t, 19> steps{1,   2,     5,     10,    15,     30,     60,     120,    300,    600,
                                               900, 1'800, 3'600, 7'200, 10'800, 21'600, 43'200, 86'400, 604'800};
  constexpr std::int64_t most = 7;
  using std::chrono::floor;
  using std::chrono::seconds;
  const std::int64_t first = floor<seconds>(from).time_since_epoch().count();
  const std::int64_t length = std::max<std::int64_t>(1, floor<seconds>(to).time_since_epoch().count() - first);
  const auto enough = std::ranges::find_if(steps, [&](std::int64_t step) { return length / step <= most; });
  std::int64_t step = enough == steps.end() ? steps.back() : *enough;
  while (length / step > most) step *= 2;
  std::vector<Tick> ticks;
  for (std::int64_t at = (first + step - 1) / step * step; at <= first + length; at += step) {
    ticks.push_back({static_cast<double>(at - first) / static_cast<double>(length), time_label(at, step)});
  }
  return ticks;
}

// Horizontal lines with their labels on the left, and the name of the axis above.
std::string draw_vertical(const Frame& frame, const std::vector<Tick>& ticks, const std::string& name) {
  std::string drawn = fmt::format(R"(<text class="axis" x="0" y="9">{}</text>)", escaped(name));
  for (const Tick& tick : ticks) {
    const double y = frame.bottom - tick.at * frame.down();
    drawn +=
        fmt::format(R"(<line class="grid" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>)", frame.left, frame.right, y, y);
    drawn += fmt::format(R"(<text class="tick end" x="{}" y="{:.1f}">{}</text>)", frame.left - 6, y + 4,
                         escaped(tick.label));
  }
  return drawn;
}

// Labels below.
std::string draw_horizontal(const Frame& frame, const std::vector<Tick>& ticks, const std::string& name) {
  std::string drawn = fmt::format(R"(<line class="base" x1="{}" x2="{}" y1="{}" y2="{}"/>)", frame.left, frame.right,
                                  frame.bottom, frame.bottom);
  for (const Tick& tick : ticks) {
    const double x = frame.left + tick.at * frame.across();
    const char* const side = tick.at > 0.97 ? "end" : tick.at < 0.02 ? "" : "middle";
    drawn += fmt::format(R"(<text class="tick {}" x="{:.1f}" y="{}">{}</text>)", side, x, frame.bottom + 16,
                         escaped(tick.label));
  }
  drawn +=
      fmt::format(R"(<text class="axis end" x="{}" y="{}">{}</text>)", frame.right, frame.bottom + 33, escaped(name));
  return drawn;
}

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

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    constexpr std::string_view special = "&<>\"'";
    constexpr std::array<std::string_view, special.size()> entities{"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    const std::size_t found = special.find(c);
    safe += found == std::string_view::npos ? std::string_view(&c, 1) : entities[found];
  }
  return safe;
}

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

std::string demand_chart(const Demand& demand, const std::string& title) {
  if (demand.bars.empty() || demand.rates.empty()) return {};
  Frame frame;
  frame.top += 12;  // the markers' labels begin above the bars
  const Bars bars = bars_to_show(demand);
  const LogAxis axis(static_cast<double>(std::ranges::max(bars, {}, &Demand::Bar::consumers).consumers));
  std::string drawn = open_svg(frame, title,
                               fmt::format("{} of {} consumers fit the present {} of {}.", grouped(demand.satisfied),
                                           grouped(demand.consumers), demand.word, grouped(demand.present)));
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
  return drawn + close_svg;
}

}  // namespace weir::simulate::html
