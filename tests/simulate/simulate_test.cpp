// Small logs with known results.
#include "simulate/simulate.h"

#include <gtest/gtest.h>

#include "match/consumer.h"
#include "tests/simulate/simulation.h"

namespace weir::simulate {
namespace {

using engine::Event;

constexpr std::string_view two_per_minute = R"(
  - { name: by-ip, consumer_key: ip, algorithm: fixed_window, rate: 2/min }
)";

TEST(Simulate, CountsWhatALimitAdmitsAndDenies) {
  Simulation simulation(two_per_minute);
  for (int i = 0; i < 5; ++i) simulation.request(i * 100, "192.0.2.1");
  simulation.request(600, "192.0.2.2");
  simulation.request(40'000, "192.0.2.1");  // the next window
  const Report report = simulation.run();
  EXPECT_EQ(report.pace.requests, 7U);
  EXPECT_EQ(report.policy.admitted, 4U);
  EXPECT_EQ(report.policy.denied, 3U);
  ASSERT_EQ(report.policy.limits.size(), 1U);
  const LimitReport& limit = report.policy.limits[0];
  EXPECT_EQ(limit.counts.of(Event::admitted), 4U);
  EXPECT_EQ(limit.counts.denied(), 3U);
  EXPECT_EQ(limit.numbers, "2/min");
  EXPECT_EQ(limit.hardest_hit.total, 3U);
  EXPECT_EQ(limit.hardest_hit.affected, 1U);
  ASSERT_EQ(limit.demand.size(), 1U);
  EXPECT_EQ(limit.demand[0].consumers, 2U);
  EXPECT_EQ(limit.demand[0].satisfied, 1U);
  EXPECT_EQ(limit.demand[0].rates[0].number.all, 5U);
}

TEST(Simulate, KnowsThePeakAndTheMean) {
  Simulation simulation(two_per_minute);
  for (int i = 0; i < 6; ++i) simulation.request(5'000 + i, "192.0.2.1");
  for (int i = 0; i < 4; ++i) simulation.request(20'000 + i * 20'000, "192.0.2.1");
  const Report report = simulation.run();
  EXPECT_EQ(report.pace.second, (Peak{6, Instant{std::chrono::seconds{1'700'000'005}}}));
  EXPECT_EQ(report.pace.minute.count, 9U);  // seconds 5 to 64; the last request is at 80
  EXPECT_NEAR(report.pace.mean_per_second, 10 / 75.0, 1e-9);
  EXPECT_NEAR(report.pace.burst_ratio(), 6 / (10 / 75.0), 1e-6);
}

TEST(Simulate, RoutesAreTemplates) {
  Simulation simulation(R"(
  - { name: users, routes: ["GET /users/{id}", "POST /login"], consumer_key: global, algorithm: fixed_window, rate: 2/min }
)");
  for (const char* target : {"/users/1", "/users/2", "/users/3", "/elsewhere"}) simulation.request(0, "::1", target);
  simulation.request(1, "::1", "/login", "", "POST");
  const Report report = simulation.run();
  ASSERT_EQ(report.policy.routes.size(), 3U);
  EXPECT_EQ(report.policy.routes[0].route, "GET /users/{id}");
  EXPECT_EQ(report.policy.routes[0].admitted, 2U);
  EXPECT_EQ(report.policy.routes[0].denied, 1U);
  EXPECT_EQ(report.policy.uncovered, 1U);
  const LimitReport& limit = report.policy.limits[0];
  ASSERT_EQ(limit.routes.size(), 2U);
  EXPECT_EQ(limit.routes[0].counts.denied(), 1U);
  EXPECT_EQ(limit.routes[1].route, "POST /login");
  EXPECT_EQ(limit.routes[1].counts.denied(), 1U);
}

TEST(Simulate, ConsumersAreHashedUnlessKeysAreShown) {
  Simulation simulation(two_per_minute);
  for (int i = 0; i < 4; ++i) simulation.request(i, "192.0.2.77");
  const Report hashed = simulation.run();
  const std::string name = hashed.policy.limits[0].hardest_hit.consumers.at(0).name;
  EXPECT_EQ(name.size(), 12U);
  EXPECT_EQ(name.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_EQ(simulation.run().policy.limits[0].hardest_hit.consumers.at(0).name, name);
  simulation.options.hash_key = {3, 4};
  EXPECT_NE(simulation.run().policy.limits[0].hardest_hit.consumers.at(0).name, name);
  simulation.options.names = Names::shown;
  const Report shown = simulation.run();
  EXPECT_EQ(shown.policy.limits[0].hardest_hit.consumers.at(0).name, "ip=192.0.2.77");
  EXPECT_EQ(shown.policy.limits[0].hardest_hit.consumers.at(0).count, 2U);
}

TEST(Simulate, ConsumersGetTheNamesOfTheCaller) {
  Simulation simulation(two_per_minute);
  for (int i = 0; i < 4; ++i) simulation.request(i, "192.0.2.77");
  std::string key;
  simulation.options.hashed_name = [&](std::string_view consumer) {
    key = consumer;
    return std::string("ip:1234");
  };
  EXPECT_EQ(simulation.run().policy.limits[0].hardest_hit.consumers.at(0).name, "ip:1234");
  EXPECT_EQ(match::describe_consumer(key), "ip=192.0.2.77");
  simulation.options.names = Names::shown;
  EXPECT_EQ(simulation.run().policy.limits[0].hardest_hit.consumers.at(0).name, "ip=192.0.2.77");
}

TEST(Simulate, NumbersAreShownAsWritten) {
  Simulation simulation("  - { name: a, consumer_key: ip, algorithm: gcra, rate: 300/min, burst: 20 }\n");
  simulation.request(0, "192.0.2.77");
  const LimitReport limit = simulation.run().policy.limits[0];
  EXPECT_EQ(limit.numbers, "300/min, burst 20");
  ASSERT_GE(limit.demand.at(0).rates.size(), 2U);
  EXPECT_EQ(limit.demand[0].rates[0].rate, "300/min");
  EXPECT_EQ(limit.demand[0].rates[1].rate, "600/min");
}

TEST(Simulate, SharedConsumersAreAlwaysShown) {
  Simulation simulation("  - { name: all, consumer_key: global, algorithm: fixed_window, rate: 1/min }\n");
  for (int i = 0; i < 2; ++i) simulation.request(i, "192.0.2.1");
  EXPECT_EQ(simulation.run().policy.limits[0].hardest_hit.consumers.at(0).name, "global");
}

TEST(Simulate, ASecondPolicyDecidesTheSameRequests) {
  Simulation simulation(two_per_minute);
  simulation.options.candidate = ruleset(R"(
  - { name: by-user, consumer_key: user, algorithm: fixed_window, rate: 3/min }
)");
  simulation.options.names = Names::shown;
  // Two users behind one address: the first policy admits two requests, the second three of each.
  for (int i = 0; i < 4; ++i) simulation.request(i, "192.0.2.1", "/a", "alice");
  simulation.request(5, "192.0.2.1", "/a", "bob");
  // And one user with four addresses.
  for (int i = 0; i < 4; ++i) simulation.request(10 + i, fmt::format("192.0.2.{}", 10 + i), "/a", "carol");
  const Report report = simulation.run();
  ASSERT_TRUE(report.comparison.has_value());
  EXPECT_EQ(report.comparison->both_admit, 2U + 3U);
  EXPECT_EQ(report.comparison->both_deny, 1U);
  EXPECT_EQ(report.comparison->newly_admitted, 2U);
  EXPECT_EQ(report.comparison->newly_denied, 1U);
  EXPECT_EQ(report.candidate->denied, 2U);
  ASSERT_EQ(report.comparison->newly_denied_by.size(), 1U);
  EXPECT_EQ(report.comparison->newly_denied_by[0].limit, "by-user");
  EXPECT_EQ(report.comparison->newly_denied_by[0].consumers.consumers.at(0).name, "user=carol");
  ASSERT_EQ(report.comparison->newly_admitted_by.size(), 1U);
  EXPECT_EQ(report.comparison->newly_admitted_by[0].limit, "by-ip");
  EXPECT_EQ(report.comparison->newly_admitted_by[0].consumers.consumers.at(0).name, "ip=192.0.2.1");
  ASSERT_EQ(report.comparison->rows.size(), 2U);
  EXPECT_EQ(report.comparison->rows[0].limit, "by-ip");
  EXPECT_EQ(report.comparison->rows[0].newly_admitted, 2U);
}

TEST(Simulate, ACandidateInsideThePolicyIsComparedPerLimit) {
  Simulation simulation(R"(
  - name: by-ip
    consumer_key: ip
    algorithm: fixed_window
    rate: 3/min
    candidate: { rate: 2/min }
)");
  simulation.options.names = Names::shown;
  for (int i = 0; i < 4; ++i) simulation.request(i, "192.0.2.1");
  simulation.request(5, "192.0.2.2");
  const Report report = simulation.run();
  ASSERT_TRUE(report.policy.limits[0].candidate.has_value());
  const CandidateReport& candidate = *report.policy.limits[0].candidate;
  EXPECT_EQ(candidate.agrees, 4U);
  EXPECT_EQ(candidate.newly_denied, 1U);
  EXPECT_EQ(candidate.newly_admitted, 0U);
  EXPECT_EQ(candidate.newly_denied_consumers.consumers.at(0).name, "ip=192.0.2.1");
  EXPECT_EQ(report.policy.denied, 1U);
}

TEST(Simulate, ShadowLimitsAndWarningsAreReportedAndDenyNothing) {
  Simulation simulation(R"(
  - { name: shadow, consumer_key: ip, algorithm: fixed_window, rate: 1/min, mode: shadow }
  - { name: gentle, consumer_key: ip, algorithm: fixed_window, rate: 2/min, warn_first: { count: 1, per: 1h } }
)");
  for (int i = 0; i < 4; ++i) simulation.request(i, "192.0.2.1");
  const Report report = simulation.run();
  EXPECT_EQ(report.policy.admitted, 3U);
  EXPECT_EQ(report.policy.warned, 1U);
  EXPECT_EQ(report.policy.denied, 1U);
  EXPECT_EQ(report.policy.limits[0].counts.of(Event::shadow_denied), 3U);
  EXPECT_EQ(report.policy.limits[0].hardest_hit.total, 3U);
  EXPECT_EQ(report.policy.limits[1].counts.of(Event::warned), 1U);
  EXPECT_EQ(report.policy.limits[1].hardest_hit.total, 1U);
}

TEST(Simulate, InvalidAndLateLinesAreReported) {
  Simulation simulation(two_per_minute);
  simulation.request(10'000, "192.0.2.1");
  simulation.log += "{broken\n";
  simulation.request(60'000, "192.0.2.1");
  simulation.request(1'000, "192.0.2.1");
  const Report hashed = simulation.run();
  EXPECT_EQ(hashed.log.lines, 4U);
  EXPECT_EQ(hashed.log.entries, 3U);
  EXPECT_EQ(hashed.log.not_understood, 1U);
  EXPECT_EQ(hashed.log.late, 1U);
  ASSERT_EQ(hashed.log.examples.size(), 1U);
  EXPECT_EQ(hashed.log.examples[0].line_number, 2U);
  EXPECT_EQ(hashed.log.examples[0].excerpt, "");  // it could identify a client
  simulation.options.names = Names::shown;
  EXPECT_EQ(simulation.run().log.examples.at(0).excerpt, "{broken");
}

TEST(Simulate, UserAgentsAreReadFromCombinedLogsIfTheyAreKeys) {
  Simulation simulation(R"(
  - { name: by-agent, consumer_key: "header:user-agent", algorithm: fixed_window, rate: 1/min }
)");
  simulation.options.names = Names::shown;
  for (int i = 0; i < 3; ++i) {
    simulation.log += R"(192.0.2.1 - - [10/Oct/2023:13:55:36 +0000] "GET / HTTP/1.1" 200 5 "-" "curl/8")"
                      "\n";
  }
  const Report report = simulation.run();
  EXPECT_EQ(report.policy.denied, 2U);
  EXPECT_EQ(report.log.whole_second_entries, 3U);
  EXPECT_EQ(report.policy.limits[0].hardest_hit.consumers.at(0).name, "header:user-agent=curl/8");
}

TEST(Simulate, AnEmptyLogIsAnEmptyReport) {
  Simulation simulation(two_per_minute);
  const Report report = simulation.run();
  EXPECT_EQ(report.pace.requests, 0U);
  EXPECT_TRUE(report.policy.timeline.bins().empty());
  EXPECT_TRUE(report.policy.limits[0].demand.empty());
}

TEST(Simulate, SeveralLogsAreOneStream) {
  Simulation simulation(two_per_minute);
  const LogFile first(R"({"ts":1700000000.1,"remote_addr":"192.0.2.1","request_uri":"/"})"
                      "\n");
  const LogFile second(R"({"ts":1700000000.2,"remote_addr":"192.0.2.1","request_uri":"/"})"
                       "\n");
  simulation.options.logs = {first.path(), second.path(), second.path()};
  std::vector<std::size_t> logs;
  const auto report = simulate(simulation.options, [&](const SimulateProgress& progress) {
    logs.push_back(progress.log);
    EXPECT_EQ(progress.consumed, progress.total);
  });
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->policy.admitted, 2U);
  EXPECT_EQ(report->policy.denied, 1U);
  EXPECT_EQ(logs, (std::vector<std::size_t>{0, 1, 2}));
}

TEST(Simulate, ALogThatCannotBeOpenedIsAnError) {
  Simulation simulation(two_per_minute);
  simulation.options.logs = {"/nowhere/access.log"};
  const auto report = simulate(simulation.options);
  ASSERT_FALSE(report.has_value());
  EXPECT_NE(report.error().message().find("/nowhere/access.log"), std::string::npos);
  simulation.options.policy = nullptr;
  EXPECT_FALSE(simulate(simulation.options).has_value());
}

// With more consumers than the statistics may sample, all are decided and the report shows the sampling ratio.
TEST(Simulate, ConsumersBeyondTheBoundAreSampled) {
  Simulation simulation(two_per_minute);
  simulation.options.max_consumers = 1;  // a limit gets at least a thousand
  for (int i = 0; i < 5'000; ++i) {
    simulation.request(i, fmt::format("10.{}.{}.{}", i / 65'536, i / 256 % 256, i % 256));
  }
  const Report report = simulation.run();
  EXPECT_EQ(report.policy.admitted, 5'000U);
  const Demand& demand = report.policy.limits[0].demand.at(0);
  EXPECT_LE(demand.consumers, 1'000U);
  EXPECT_EQ(demand.one_in, 8U);
}

}  // namespace
}  // namespace weir::simulate
