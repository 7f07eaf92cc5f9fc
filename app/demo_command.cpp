#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "app/commands.h"
#include "weir/weir.h"

namespace weir::app {
namespace {

using namespace std::chrono_literals;

constexpr Instant start = std::chrono::sys_days{std::chrono::year{2026} / 1 / 1};
constexpr Duration column = 500ms;
constexpr std::size_t columns = 40;

using Instants = std::vector<Instant>;

// Returns a limit of each algorithm, all with the same rate. They differ in the burst that they allow and in how they
// count.
std::array<Result<Limit>, 7> limits(Rate rate) {
  const std::uint64_t burst = rate.count;
  const WindowNumbers window{.limit = rate.count, .window = rate.per};
  return {Limit::token_bucket({.rate = rate, .burst = burst}),
          Limit::gcra({.rate = rate, .burst = burst}),
          Limit::leaky_bucket(BucketNumbers{.rate = rate, .burst = 1}),
          Limit::leaky_bucket(QueueNumbers{.rate = rate, .queue = burst - 1}),
          Limit::fixed_window(window),
          Limit::sliding_window_log(window),
          Limit::sliding_window_counter(window)};
}

// Returns a trickle, two bursts around a window boundary, immediate retries, and a burst after a pause.
Instants bursty_trace() {
  Instants trace;
  const auto arrive = [&trace](int count, Duration from, Duration every) {
    for (int i = 0; i < count; ++i) trace.push_back(start + from + i * every);
  };
  arrive(4, 250ms, 1s);
  arrive(9, 7600ms, 40ms);
  arrive(9, 8050ms, 40ms);
  arrive(18, 12s, 166ms);
  arrive(9, 18500ms, 40ms);
  return trace;
}

// Returns the times at which the admitted requests proceed: immediately, or at their turn in the queue.
Result<Instants> run_trace(const Limit& limit, const Instants& trace) {
  const auto clock = std::make_shared<ManualClock>(start);
  auto limiter = Limiter::create(limit, clock);
  if (!limiter) return tl::unexpected(limiter.error());
  Instants passed;
  for (const Instant arrival : trace) {
    clock->set(arrival);
    if (const Decision decision = limiter->check()) passed.push_back(arrival + decision.delay);
  }
  return passed;
}

std::ptrdiff_t count_in(const Instants& instants, Instant from, Instant until) {
  return std::ranges::count_if(instants, [=](Instant t) { return from <= t && t < until; });
}

// Returns the maximum number of requests in any window of that length.
std::ptrdiff_t max_in_window(const Instants& passed, Duration stretch) {
  std::ptrdiff_t most = 0;
  for (const Instant t : passed) most = std::max(most, count_in(passed, t, t + stretch));
  return most;
}

// Returns one character per column: the number of requests admitted, `-` if all were denied, `.` if none arrived.
std::string timeline(const Instants& trace, const Instants& passed) {
  std::string line;
  for (std::size_t i = 0; i < columns; ++i) {
    const Instant from = start + static_cast<int>(i) * column;
    const auto count = count_in(passed, from, from + column);
    const bool has_arrivals = count_in(trace, from, from + column) > 0;
    line += count > 0 ? fmt::format("{}", count) : has_arrivals ? "-" : ".";
  }
  return line;
}

void print_row(std::string_view name, const std::string& line, std::size_t passed, std::ptrdiff_t most) {
  fmt::print("{:<23}{}{:>8}{:>7}\n", name, line, passed, most);
}

// Prints the error. Returns false, so that the caller can return it.
bool report(const Error& error) {
  fmt::print(stderr, "weir: {}\n", error.message());
  return false;
}

bool show_timelines() {
  const Rate rate{.count = 8, .per = 4s};
  const Instants trace = bursty_trace();
  fmt::print("One bursty trace under each algorithm at 8 per 4 s.\n\n");
  fmt::print("{:<23}{:<10}{:<10}{:<10}{:<10}{:>8}{:>7}\n", "", "0 s", "5 s", "10 s", "15 s", "passed", "in 4 s");
  print_row("arrived", timeline(trace, trace), trace.size(), max_in_window(trace, rate.per));
  for (const auto& limit : limits(rate)) {
    if (!limit) return report(limit.error());
    const auto passed = run_trace(*limit, trace);
    if (!passed) return report(passed.error());
    print_row(name_of(limit->algorithm()), timeline(trace, *passed), passed->size(), max_in_window(*passed, rate.per));
  }
  fmt::print(
      "\nA column is half a second: the number of requests admitted, - if all were denied, . if none arrived.\n"
      "\"in 4 s\" is the maximum in any four seconds. The meter has a burst of 1, so it admits only evenly\n"
      "spaced requests. The queue delays up to 7 requests.\n");
  return true;
}

// Uses the limit until it denies, then tries again one microsecond before retry_after and at retry_after.
bool show_denial(const Limit& limit) {
  const auto clock = std::make_shared<ManualClock>(start + 1s);
  auto limiter = Limiter::create(limit, clock);
  if (!limiter) return report(limiter.error());
  Decision decision = limiter->check();
  while (decision.admitted) decision = limiter->check();
  if (!decision.retry_after) return report({std::string(name_of(limit.algorithm())), "denied forever"});

  const Instant back_at = clock->now() + *decision.retry_after;
  const auto answer_at = [&](Instant now) {
    clock->set(now);
    return limiter->peek().admitted ? "admitted" : "denied";
  };
  const auto seconds = std::chrono::duration<double>(*decision.retry_after).count();
  const std::string early = answer_at(back_at - 1us);
  fmt::print("{:<23}{:>10.6f} s   {:<17}{}\n", name_of(limit.algorithm()), seconds, early, answer_at(back_at));
  return true;
}

bool show_denials() {
  fmt::print("\nretry_after of a denial is exact. 7 per 3 s, all admitted at 1 s, then one request too many:\n\n");
  fmt::print("{:<23}{:>12}   {:<17}{}\n", "", "retry_after", "1 us earlier", "then");
  return std::ranges::all_of(limits({.count = 7, .per = 3s}), [](const Result<Limit>& limit) {
    return limit ? show_denial(*limit) : report(limit.error());
  });
}

constexpr auto demo_footer =
    "Runs one trace through each algorithm and shows when requests are admitted. Then shows that the\n"
    "retry_after of a denial is exact. Uses virtual time: it returns at once and always prints the same.\n"
    "\n"
    "Example:\n"
    "  weir demo\n"
    "\n"
    "Exit codes: 0 success, 1 failure, 2 usage error.";

}  // namespace

Command demo_command(CLI::App& weir) {
  auto* line = weir.add_subcommand("demo", "Show the algorithms on one bursty trace");
  line->footer(demo_footer);
  return {line, [] { return show_timelines() && show_denials() ? ok : failed; }};
}

}  // namespace weir::app
