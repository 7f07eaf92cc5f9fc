#include "algorithms/decide.h"

#include <benchmark/benchmark.h>

#include <chrono>
#include <string>

#include "core/rule.h"
#include "weir/limit.h"

namespace {

using namespace std::chrono_literals;
using weir::Cost;
using weir::Duration;
using weir::Instant;

constexpr Instant start = std::chrono::sys_days{std::chrono::year{2024} / 2 / 29};

// A token every 428 4/7 microseconds, and requests slightly further apart.
constexpr weir::Rate rate{7, 3ms};
constexpr Duration bucket_step = 430us;

// Two thirds of the limit in every window.
constexpr weir::WindowNumbers window{1'000, 1s};
constexpr Duration window_step = 1'501us;

template <class A>
void admitted(benchmark::State& measured, const weir::Limit& checked, Duration step) {
  const typename A::Limit limit(checked);
  typename A::State state;
  Instant now = start;
  for (int i = 0; i < 2'000; ++i) benchmark::DoNotOptimize(A::decide(limit, state, Cost{1}, now += step));
  bool all = true;
  for (auto _ : measured) {
    weir::Decision decision = A::decide(limit, state, Cost{1}, now += step);
    benchmark::DoNotOptimize(decision);
    benchmark::ClobberMemory();
    all = all && decision.admitted;
  }
  if (!all) measured.SkipWithError("denied");
}

template <class A>
void denied(benchmark::State& measured, const weir::Limit& checked, Duration step) {
  const typename A::Limit limit(checked);
  typename A::State state;
  Instant now = start;
  // Runs at the full rate first, so that the previous window counts too.
  while (A::decide(limit, state, Cost{1}, now).admitted) now += step / 4;
  bool none = true;
  for (auto _ : measured) {
    benchmark::DoNotOptimize(now);
    weir::Decision decision = A::decide(limit, state, Cost{1}, now);
    benchmark::DoNotOptimize(decision);
    benchmark::ClobberMemory();
    none = none && !decision.admitted;
  }
  if (!none) measured.SkipWithError("admitted");
}

template <class A>
void add(const weir::Limit& limit, Duration step) {
  const std::string name = std::string(weir::name_of(limit.algorithm())) + "/decide/hot_key/";
  benchmark::RegisterBenchmark((name + "admitted").c_str(), admitted<A>, limit, step);
  benchmark::RegisterBenchmark((name + "denied").c_str(), denied<A>, limit, step);
}

}  // namespace

namespace bench::algorithms {

void add_decide() {
  namespace core = weir::core;
  using weir::Limit;
  add<core::TokenBucket>(Limit::token_bucket({rate, 100}).value(), bucket_step);
  add<core::Gcra>(Limit::gcra({rate, 100}).value(), bucket_step);
  add<core::LeakyBucketMeter>(Limit::leaky_bucket(weir::BucketNumbers{rate, 100}).value(), bucket_step);
  add<core::LeakyBucketQueue>(Limit::leaky_bucket(weir::QueueNumbers{rate, 99}).value(), bucket_step);
  add<core::FixedWindow>(Limit::fixed_window(window).value(), window_step);
  add<core::SlidingWindowCounter>(Limit::sliding_window_counter(window).value(), window_step);
  add<core::SlidingWindowLog>(Limit::sliding_window_log(window).value(), window_step);
}

}  // namespace bench::algorithms
