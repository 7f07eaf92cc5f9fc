// Small logs whose requests reserve and settle, with results computed by hand.
#include "simulate/estimate_run.h"

#include <gtest/gtest.h>

#include "simulate/simulate.h"
#include "tests/simulate/simulation.h"

namespace weir::simulate {
namespace {

// All requests of these logs are in one window.
constexpr std::string_view hundred_tokens = R"(
  - { name: tokens, consumer_key: ip, algorithm: fixed_window, rate: 100/h }
)";

// `report`, then the requested estimates.
std::vector<EstimateReport> with_estimates(Simulation& simulation, const std::vector<std::string>& estimates) {
  simulation.options.estimates.clear();
  for (const std::string& text : estimates) simulation.options.estimates.push_back(*Estimate::read(text));
  return simulation.run().estimates;
}

struct Numbers {
  std::uint64_t admitted, denied, newly_denied, newly_admitted;
  std::uint64_t reserved, spent, given_back;
  double wasted;
  std::uint64_t overspent;

  friend bool operator==(const Numbers&, const Numbers&) = default;
  friend void PrintTo(const Numbers& n, std::ostream* out) {
    *out << fmt::format("{} admitted, {} denied, {} and {} newly; reserved {}, spent {}, back {}, wasted {}, over {}",
                        n.admitted, n.denied, n.newly_denied, n.newly_admitted, n.reserved, n.spent, n.given_back,
                        n.wasted, n.overspent);
  }
};

Numbers numbers_of(const EstimateReport& report) {
  const EstimateReport::OfLimit& of = report.limits.at(0);
  EXPECT_EQ(report.limits.size(), 1U);
  EXPECT_EQ(of.not_kept, 0U);
  return {report.admitted, report.denied, report.newly_denied, report.newly_admitted, of.reserved,
          of.spent,        of.given_back, of.wasted,           of.overspent};
}

struct Line {
  int at;  // milliseconds, as `took`
  int cost;
  std::optional<int> took;
};

TEST(EstimateRun, SmallLogsHaveTheExpectedResults) {
  struct Row {
    std::string name;
    std::vector<Line> log;
    std::string estimate;
    Numbers report;
    Numbers estimated;
  };
  const std::vector<Row> rows{
      {"too large an estimate denies what would have fitted: 40 and 40 leave 20",
       {{0, 10, 1'000}, {100, 10, 1'000}, {200, 10, 1'000}, {300, 10, 1'000}},
       "40",
       {4, 0, 0, 0, 0, 40, 0, 0, 0},
       {2, 2, 2, 0, 80, 20, 60, 60, 0}},
      {"reports overspend what is in flight: of the second 20 of 60, of the third all; then it is in debt",
       {{0, 60, 1'000}, {100, 60, 1'000}, {200, 60, 1'000}, {2'000, 60, 1'000}},
       "60",
       {3, 1, 0, 2, 0, 180, 0, 0, 80},
       {1, 3, 0, 0, 60, 60, 0, 0, 0}},
      {"too small an estimate overspends the rest: 30 and 30 are reserved, the first ends at 60 of 100",
       {{0, 60, 1'000}, {100, 60, 1'000}, {2'000, 1, 10}},
       "30",
       {2, 1, 1, 1, 0, 120, 0, 0, 20},
       {2, 1, 1, 1, 60, 120, 0, 0, 20}},
      {"max learns at the ends: 1, 10 and 30 are reserved",
       {{0, 10, 100}, {200, 30, 100}, {400, 20, 100}},
       "max",
       {3, 0, 0, 0, 0, 60, 0, 0, 0},
       {3, 0, 0, 0, 41, 60, 10, 1, 0}},
      {"max knows nothing of what is in flight: three times 1",
       {{0, 10, 1'000}, {200, 50, 1'000}, {400, 20, 1'000}},
       "max",
       {3, 0, 0, 0, 0, 80, 0, 0, 0},
       {3, 0, 0, 0, 3, 80, 0, 0, 0}},
      {"what ends at the instant of a request ends before it",
       {{0, 0, 500}, {500, 0, 500}, {999, 0, 500}},
       "100",
       {3, 0, 0, 0, 0, 0, 0, 0, 0},
       {2, 1, 1, 0, 200, 0, 200, 100, 0}},
      {"without durations all is settled at once, and nothing is in flight",
       {{0, 60, {}}, {0, 60, {}}, {1, 40, {}}},
       "60",
       {2, 1, 1, 1, 0, 120, 0, 0, 20},
       {1, 2, 1, 0, 60, 60, 0, 0, 0}},
  };
  for (const Row& row : rows) {
    Simulation simulation(hundred_tokens);
    for (const Line& line : row.log) simulation.costly(line.at, line.cost, line.took);
    const auto reports = with_estimates(simulation, {row.estimate});
    ASSERT_EQ(reports.size(), 2U) << row.name;
    EXPECT_EQ(reports[0].estimate, "report");
    EXPECT_EQ(reports[1].estimate, row.estimate);
    EXPECT_EQ(numbers_of(reports[0]), row.report) << row.name << ": report";
    EXPECT_EQ(numbers_of(reports[1]), row.estimated) << row.name << ": " << row.estimate;
  }
}

TEST(EstimateRun, AnEstimateBelongsToARoute) {
  Simulation simulation(R"(
  - { name: tokens, routes: ["/small", "/large"], consumer_key: ip, algorithm: fixed_window, rate: 1000/h }
)");
  simulation.costly(0, 3, 10, "/small");
  simulation.costly(100, 90, 10, "/large");
  simulation.costly(200, 3, 10, "/small");   // 3
  simulation.costly(300, 90, 10, "/large");  // 90
  const auto reports = with_estimates(simulation, {"max"});
  EXPECT_EQ(reports.at(1).limits.at(0).reserved, 1U + 1U + 3U + 90U);
  EXPECT_EQ(reports[1].limits[0].given_back, 0U);
}

// The configured cost admits two per window regardless of the log, even if nothing is reserved.
TEST(EstimateRun, AConfiguredCostTakesPrecedence) {
  Simulation simulation(R"(
  - { name: requests, consumer_key: ip, algorithm: fixed_window, rate: 2/h, cost: 1 }
  - { name: tokens, consumer_key: ip, algorithm: fixed_window, rate: 1000/h }
)");
  for (int i = 0; i < 3; ++i) simulation.costly(i * 100, 50, 1'000);
  simulation.options.estimates = {*Estimate::read("200")};
  const Report report = simulation.run();
  EXPECT_EQ(report.policy.admitted, 2U);
  for (const EstimateReport& estimate : report.estimates) {
    EXPECT_EQ(estimate.admitted, 2U) << estimate.estimate;
    ASSERT_EQ(estimate.limits.size(), 1U);
    EXPECT_EQ(estimate.limits[0].name, "tokens");
    EXPECT_EQ(estimate.limits[0].spent, 100U);
  }
}

TEST(EstimateRun, ReportsThatNoLimitUsesTheCost) {
  Simulation simulation("  - { name: a, consumer_key: ip, algorithm: fixed_window, rate: 2/h, cost: 1 }\n");
  simulation.costly(0, 50, 1);
  simulation.options.estimates = {*Estimate::read("max")};
  EXPECT_NE(report_text(simulation.run()).find("No limit uses the cost of the caller"), std::string::npos);
}

// A state has at most 1,024 receipts. A request without a receipt keeps its reservation.
TEST(EstimateRun, MissingReceiptsAreCounted) {
  Simulation simulation("  - { name: tokens, consumer_key: ip, algorithm: fixed_window, rate: 10000/h }\n");
  for (int i = 0; i < 1'030; ++i) simulation.costly(i, 1, 60'000);
  const EstimateReport::OfLimit of = with_estimates(simulation, {"2"}).at(1).limits.at(0);
  EXPECT_EQ(of.not_kept, 6U);
  EXPECT_EQ(of.reserved, 2'048U);
  EXPECT_EQ(of.given_back, 1'024U);
}

TEST(EstimateRun, TooManyEstimatesAreAnError) {
  Simulation simulation(hundred_tokens);
  simulation.options.estimates.resize(9, *Estimate::read("1"));
  const auto report = simulate(simulation.options);
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().message(), "estimates: 9 is too many; at most 8");
}

TEST(EstimateRun, IsInEveryReportFormat) {
  Simulation simulation(hundred_tokens);
  for (int i = 0; i < 4; ++i) simulation.costly(i * 100, 10, 1'000);
  EXPECT_NE(report_json(simulation.run()).find(R"("estimates": null)"), std::string::npos);
  EXPECT_EQ(report_text(simulation.run()).find("Costs known"), std::string::npos);
  simulation.options.estimates = {*Estimate::read("p95 of 10"), *Estimate::read("40")};
  const Report report = simulation.run();
  for (const std::string& text : {report_text(report), report_html(report)}) {
    EXPECT_NE(text.find("Costs known only at the end"), std::string::npos);
    EXPECT_NE(text.find("p95 of 10"), std::string::npos);
  }
  EXPECT_NE(report_json(report).find(R"("estimate": "40")"), std::string::npos);
  EXPECT_NE(report_json(report).find(R"("wasted": 60)"), std::string::npos);
}

// --- costs and durations without estimates

TEST(Simulate, TheCostInTheLogReplacesTheDefault) {
  Simulation simulation(R"(
  - { name: tokens, consumer_key: ip, algorithm: fixed_window, rate: 100/h }
  - { name: requests, consumer_key: ip, algorithm: fixed_window, rate: 100/h, cost: 10 }
)");
  for (int i = 0; i < 4; ++i) simulation.costly(i, 30, {});
  simulation.request(5, "192.0.2.1");  // 1
  const Report report = simulation.run();
  EXPECT_EQ(report.policy.limits[0].counts.denied(), 1U);
  EXPECT_EQ(report.policy.limits[0].demand.at(0).rates.at(0).number.all, 121U);
  EXPECT_EQ(report.policy.limits[1].demand.at(0).rates.at(0).number.all, 50U);
  EXPECT_EQ(report.log.without_cost, 1U);
  EXPECT_NE(report_text(report).find("1 request has no cost and counts as 1"), std::string::npos);
}

TEST(Simulate, ALineMayBeStampedWithItsEnd) {
  for (const auto& [stamped, spent] : {std::pair{Stamped::start, 120U}, std::pair{Stamped::end, 60U}}) {
    Simulation simulation(hundred_tokens);
    simulation.costly(1'000, 60, 900);  // 100 to 1,000
    simulation.costly(1'100, 60, 10);   // 1,090 to 1,100
    simulation.options.stamped = stamped;
    // By start times both are in flight at 1,100; by end times the first ends before the second begins.
    EXPECT_EQ(with_estimates(simulation, {"1"}).at(0).limits.at(0).spent, 120U);
    EXPECT_EQ(with_estimates(simulation, {"50"}).at(1).limits.at(0).spent, spent);
  }
}

// --- concurrency limits

// A simulation with one concurrency limit.
std::shared_ptr<const policy::Ruleset> holding(std::string_view limits, std::uint64_t most, Duration lease) {
  auto changed = std::make_shared<policy::Ruleset>(*ruleset(limits));
  changed->limits[0].live.by_tier.assign(1, Limit::concurrency({most, lease}).value());
  changed->limits[0].cost.is_written = true;
  return changed;
}

Simulation two_at_once(std::optional<int> took) {
  Simulation simulation(hundred_tokens);
  simulation.options.policy = holding(hundred_tokens, 2, std::chrono::seconds{30});
  for (const int at : {0, 100, 200, 999, 1'000, 1'099, 1'100, 30'000}) simulation.costly(at, 5, took);
  return simulation;
}

// The first two hold units until 1,000 and 1,100; the request at 1,000 replaces the first, that at 1,100 the second.
TEST(Holds, LastAsLongAsTheRequest) {
  Simulation simulation = two_at_once(1'000);
  simulation.options.estimates = {*Estimate::read("50")};
  const Report report = simulation.run();
  EXPECT_EQ(report.policy.admitted, 5U);
  EXPECT_EQ(report.policy.denied, 3U);
  EXPECT_EQ(report.log.held_for_lease, 0U);
  for (const EstimateReport& estimate : report.estimates) {
    EXPECT_EQ(estimate.admitted, 5U) << estimate.estimate;
    EXPECT_EQ(estimate.newly_denied + estimate.newly_admitted, 0U) << estimate.estimate;
  }
}

// The lease of the first request expires at 30,000.
TEST(Holds, LastForTheLeaseWithoutADuration) {
  Simulation simulation = two_at_once({});
  simulation.options.estimates = {*Estimate::read("50")};
  const Report report = simulation.run();
  EXPECT_EQ(report.policy.admitted, 3U);
  EXPECT_EQ(report.policy.denied, 5U);
  EXPECT_EQ(report.log.held_for_lease, 8U);
  EXPECT_NE(report_text(report).find("8 requests have no duration"), std::string::npos);
  for (const EstimateReport& estimate : report.estimates) EXPECT_EQ(estimate.admitted, 3U) << estimate.estimate;
}

TEST(Holds, AreNotSimulatedOnNodes) {
  Simulation simulation = two_at_once(1'000);
  simulation.options.nodes.nodes = 2;
  const auto report = simulate(simulation.options);
  ASSERT_FALSE(report.has_value());
  EXPECT_NE(report.error().message().find("remove --nodes"), std::string::npos);
}

}  // namespace
}  // namespace weir::simulate
