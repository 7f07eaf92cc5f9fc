#include "accuracy/scenarios.h"

#include <chrono>
#include <cstdint>

namespace bench::accuracy {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t seed = 20'240'229;

}  // namespace

std::vector<NamedLimit> limits() {
  const weir::Rate rate{promise.limit, promise.window};
  return {
      {"sliding window log", weir::Limit::sliding_window_log(promise).value()},
      {"sliding window counter", weir::Limit::sliding_window_counter(promise).value()},
      {"fixed window", weir::Limit::fixed_window(promise).value()},
      {"bucket, burst 100", weir::Limit::gcra({rate, 100}).value()},
      {"bucket, burst 10", weir::Limit::gcra({rate, 10}).value()},
  };
}

std::vector<NamedTraffic> traffics(weir::Duration length) {
  using traffic::on_off, traffic::poisson, traffic::seam_attack;
  return {
      {"Poisson, 90 per minute", poisson(promise.window / 90, length, seed)},
      {"Poisson, 120 per minute", poisson(promise.window / 120, length, seed)},
      {"Poisson, 300 per minute", poisson(promise.window / 300, length, seed)},
      {"bursty: 10 s at 600 per minute, 50 s silence", on_off({10s, 50s, 100ms}, length, seed)},
      {"bursty: 60 s at 300 per minute, 60 s silence", on_off({60s, 60s, 200ms}, length, seed)},
      {"attack: 100 before and 100 after a seam", seam_attack({promise.window, 100, 0s}, length), true},
      {"attack: the same, then 10 per second", seam_attack({promise.window, 100, 100ms}, length), true},
  };
}

}  // namespace bench::accuracy
