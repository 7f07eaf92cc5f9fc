// Prints as CSV when each request of a bursty trace was made, and when each algorithm admitted it:
//   series,label,seconds        one line per request; the label has the numbers of the limit
// Every limit is 60 per minute. A queued request is admitted at its turn.
#include <chrono>
#include <cstdio>
#include <memory>
#include <string_view>
#include <vector>

#include "traffic/traffic.h"
#include "weir/clock.h"
#include "weir/limit.h"
#include "weir/limiter.h"

namespace {

using namespace std::chrono_literals;
namespace traffic = bench::traffic;

constexpr weir::WindowNumbers window{60, 1min};
constexpr weir::Rate rate{window.limit, window.window};
constexpr weir::Duration length = 5min;
constexpr traffic::OnOff bursts{.mean_on = 12s, .mean_off = 30s, .mean_gap = 140ms};
constexpr std::uint64_t seed = 5;

struct Series {
  std::string_view label;
  weir::Limit limit;
};

std::vector<Series> all_series() {
  return {
      {"burst 60", weir::Limit::token_bucket({rate, 60}).value()},
      {"burst 20", weir::Limit::gcra({rate, 20}).value()},
      {"burst 1", weir::Limit::leaky_bucket(weir::BucketNumbers{rate, 1}).value()},
      {"queue 30", weir::Limit::leaky_bucket(weir::QueueNumbers{rate, 30}).value()},
      {"60 per minute", weir::Limit::fixed_window(window).value()},
      {"60 per minute", weir::Limit::sliding_window_counter(window).value()},
      {"60 per minute", weir::Limit::sliding_window_log(window).value()},
  };
}

void print_line(std::string_view series, std::string_view label, weir::Instant at) {
  const std::chrono::duration<double> since = at - traffic::epoch;
  std::printf("%.*s,%.*s,%.3f\n", static_cast<int>(series.size()), series.data(), static_cast<int>(label.size()),
              label.data(), since.count());
}

}  // namespace

int main() {
  const traffic::Arrivals arrivals = traffic::on_off(bursts, length, seed);
  std::printf("series,label,seconds\n");
  for (const weir::Instant at : arrivals) print_line("offered", "", at);
  for (const Series& series : all_series()) {
    const auto clock = std::make_shared<weir::ManualClock>(traffic::epoch);
    weir::Limiter limiter = weir::Limiter::create(series.limit, clock).value();
    for (const weir::Instant at : arrivals) {
      clock->set(at);
      const weir::Decision decision = limiter.check();
      if (decision.admitted) print_line(weir::name_of(series.limit.algorithm()), series.label, at + decision.delay);
    }
  }
}
