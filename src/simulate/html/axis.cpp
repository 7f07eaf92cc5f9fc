#include "simulate/html/axis.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/chrono.h>
#include <fmt/core.h>

#include "simulate/html/escape.h"
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

}  // namespace

LinearAxis::LinearAxis(double most) {
  constexpr double steps = 4;
  const double step = round_step(std::max(most, 1e-9) / steps);
  const double count = std::max(1.0, std::ceil(most / step - 1e-9));
  top = step * count;
  for (double i = 0; i <= count; ++i) ticks.push_back({i / count, number_label(i * step)});
}

LogAxis::LogAxis(double most) {
  while (top < most) top *= 10;
  for (double value = 1; value <= top; value *= 10) {
    ticks.push_back({place_of(value), grouped(static_cast<std::uint64_t>(value))});
  }
}

double LogAxis::place_of(double value) const noexcept {
  constexpr double bottom = 0.5;
  if (value <= bottom) return 0;
  return std::log(value / bottom) / std::log(top / bottom);
}

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

}  // namespace weir::simulate::html
