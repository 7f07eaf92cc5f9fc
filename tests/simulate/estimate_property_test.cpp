// Random logs that reserve and settle: invariants of all estimates, and a comparison with a naive count.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "simulate/simulate.h"
#include "tests/simulate/simulation.h"

namespace weir::simulate {
namespace {

const std::array<std::string, 7> budgets{
    "algorithm: token_bucket, rate: 20/s, burst: {}", "algorithm: gcra, rate: 7/s, burst: {}",
    "algorithm: leaky_bucket, rate: 20/s, burst: {}", "algorithm: fixed_window, rate: {}/2s",
    "algorithm: sliding_window_counter, rate: {}/2s", "algorithm: sliding_window_log, rate: {}/2s",
    "algorithm: leaky_bucket, rate: 20/s, queue: {}",
};

struct Costly {
  int at;
  int cost;
  int took;
};

std::vector<Costly> random_requests(int max_cost, int min_cost = 0) {
  std::vector<Costly> requests;
  const int count = *rc::gen::inRange(1, 80);
  int at = 0;
  for (int i = 0; i < count; ++i) {
    at += *rc::gen::inRange(0, 120);
    requests.push_back({at, *rc::gen::inRange(min_cost, max_cost + 1), *rc::gen::inRange(0, 2'000)});
  }
  return requests;
}

Simulation simulation_of(const std::string& algorithm, const std::vector<Costly>& requests,
                         const std::vector<Estimate>& estimates) {
  Simulation simulation("  - { name: tokens, consumer_key: ip, " + algorithm + " }\n");
  const bool has_durations = *rc::gen::arbitrary<bool>();
  for (const Costly& one : requests) {
    simulation.costly(one.at, one.cost, has_durations ? std::optional(one.took) : std::nullopt);
  }
  simulation.options.estimates = estimates;
  return simulation;
}

std::string random_budget() {
  return fmt::format(fmt::runtime(*rc::gen::elementOf(budgets)), *rc::gen::inRange(1, 200));
}

RC_GTEST_PROP(EstimateProperties, FullReservationsNeverOverspend, ()) {
  const auto estimate = *Estimate::read(std::to_string(*rc::gen::inRange(20, 60)));
  Simulation simulation = simulation_of(random_budget(), random_requests(20), {estimate});
  const Report report = simulation.run();
  const EstimateReport& of = report.estimates.at(1);
  const EstimateReport::OfLimit& limit = of.limits.at(0);
  RC_ASSERT(limit.overspent == 0U);
  RC_ASSERT(limit.reserved == limit.spent + limit.given_back);
  RC_ASSERT(limit.reserved == of.admitted * estimate.fixed.units());
  RC_ASSERT(of.admitted + of.denied == report.pace.requests);
  RC_ASSERT(of.admitted + of.newly_denied == report.policy.admitted + of.newly_admitted);
}

RC_GTEST_PROP(EstimateProperties, APerfectEstimateWastesAndOverspendsNothing, ()) {
  const int cost = *rc::gen::inRange(1, 40);
  const auto requests = random_requests(cost, cost);
  Simulation simulation = simulation_of(random_budget(), requests, {*Estimate::read(std::to_string(cost))});
  const Report report = simulation.run();
  const EstimateReport& of = report.estimates.at(1);
  RC_ASSERT(of.admitted == report.policy.admitted);
  RC_ASSERT(of.newly_denied + of.newly_admitted == 0U);
  RC_ASSERT(of.limits.at(0).wasted == 0.0);
  RC_ASSERT(of.limits[0].given_back == 0U);
  RC_ASSERT(of.limits[0].overspent == 0U);
}

// A naive model: one window with a count, and a sorted list of requests and ends.
struct Naive {
  std::int64_t used = 0;
  std::uint64_t admitted = 0;
  std::int64_t overspent = 0;
  std::int64_t given_back = 0;
};

Naive count(const std::vector<Costly>& requests, std::int64_t limit, std::int64_t estimate) {
  struct Event {
    std::int64_t at;
    bool is_request;  // sorted after the ends at the same time
    std::size_t number;
  };
  std::vector<Event> events;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    events.push_back({requests[i].at * 1'000LL, true, i});
    events.push_back({requests[i].at * 1'000LL + std::max(1, requests[i].took * 1'000), false, i});
  }
  std::ranges::stable_sort(events, {},
                           [](const Event& event) { return std::tuple(event.at, event.is_request, event.number); });
  std::vector<bool> is_admitted(requests.size());
  Naive naive;
  for (const Event& event : events) {
    const std::int64_t cost = requests[event.number].cost;
    if (event.is_request) {
      if (naive.used + estimate > limit) continue;
      is_admitted[event.number] = true;
      naive.used += estimate;
      ++naive.admitted;
    } else if (is_admitted[event.number]) {
      naive.given_back += std::max<std::int64_t>(0, estimate - cost);
      const std::int64_t left = std::max<std::int64_t>(0, limit - naive.used);
      naive.overspent += std::max<std::int64_t>(0, cost - estimate - left);
      naive.used = std::min(naive.used + cost - estimate, 2 * limit);  // a debt of at most one capacity
    }
  }
  return naive;
}

RC_GTEST_PROP(EstimateProperties, OneWindowMatchesANaiveCount, ()) {
  const int limit = *rc::gen::inRange(1, 300);
  const int estimate = *rc::gen::inRange(1, 50);
  const auto requests = random_requests(50);
  Simulation simulation(
      fmt::format("  - {{ name: tokens, consumer_key: ip, algorithm: fixed_window, rate: {}/h }}\n", limit));
  for (const Costly& one : requests) simulation.costly(one.at, one.cost, one.took);
  simulation.options.estimates = {*Estimate::read(std::to_string(estimate))};
  const Report report = simulation.run();
  for (const auto& [of, reserved] : {std::pair{&report.estimates[0], 0}, std::pair{&report.estimates[1], estimate}}) {
    const Naive naive = count(requests, limit, reserved);
    RC_ASSERT(of->admitted == naive.admitted);
    RC_ASSERT(static_cast<std::int64_t>(of->limits.at(0).overspent) == naive.overspent);
    RC_ASSERT(static_cast<std::int64_t>(of->limits[0].given_back) == naive.given_back);
  }
}

}  // namespace
}  // namespace weir::simulate
