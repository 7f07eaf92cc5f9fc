// Small logs on several nodes, with results computed by hand.
#include "simulate/nodes.h"

#include <gtest/gtest.h>

#include "simulate/simulate.h"
#include "tests/simulate/simulation.h"

namespace weir::simulate {
namespace {

using policy::Consistency;

constexpr std::string_view hundred_per_minute = R"(
  - { name: by-ip, consumer_key: ip, algorithm: fixed_window, rate: 100/min }
)";

NodesReport on_nodes(Simulation& simulation, std::size_t nodes, std::optional<Consistency> consistency) {
  simulation.options.nodes.nodes = nodes;
  simulation.options.nodes.consistency = consistency;
  const Report report = simulation.run();
  EXPECT_TRUE(report.nodes);
  return report.nodes.value_or(NodesReport{});
}

// One request every 10 ms, round-robin to two nodes: each gets one every 20 ms.
Simulation forty_requests() {
  Simulation simulation(hundred_per_minute);
  for (int i = 0; i < 40; ++i) simulation.request(i * 10, "192.0.2.1");
  return simulation;
}

TEST(Nodes, AreOmittedFromTheReportIfDisabled) {
  EXPECT_FALSE(forty_requests().run().nodes);
}

TEST(Nodes, AnExactLimitNeedsTheStoreForEveryRequest) {
  Simulation simulation = forty_requests();
  const NodesReport nodes = on_nodes(simulation, 2, Consistency::exact);
  EXPECT_EQ(nodes.admitted, 40U);
  EXPECT_EQ(nodes.covered, 40U);
  EXPECT_EQ(nodes.without_round_trip, 0U);
  EXPECT_EQ(nodes.messages.requests, 40U);
  EXPECT_EQ(nodes.messages.second.count, 40U);
  ASSERT_EQ(nodes.limits.size(), 1U);
  EXPECT_EQ(nodes.limits[0].consistency, "exact");
  EXPECT_EQ(nodes.limits[0].evaluated, 40U);
  EXPECT_EQ(nodes.limits[0].without_round_trip, 0U);
}

// The store decides the first eight of each node's 20 requests: with fewer in a lease, a slice does not pay. The eighth
// triggers the first lease, which is renewed once.
TEST(Nodes, ALeasedLimitNeedsFewRoundTrips) {
  Simulation simulation = forty_requests();
  const NodesReport nodes = on_nodes(simulation, 2, Consistency::leased);
  EXPECT_EQ(nodes.admitted, 40U);
  EXPECT_EQ(nodes.without_round_trip, 24U);
  EXPECT_EQ(nodes.messages.requests, 18U);  // eight requests and a renewal per node
  EXPECT_EQ(nodes.limits.at(0).consistency, "leased");
  EXPECT_EQ(nodes.limits[0].evaluated, 40U);
  EXPECT_EQ(nodes.limits[0].without_round_trip, 24U);
  EXPECT_EQ(nodes.limits[0].messages, 18U);
  EXPECT_EQ(nodes.limits[0].over, 0U);
}

// With a round trip of 50 ms the store also decides the requests that come before a requested grant arrives.
TEST(Nodes, RepliesTakeARoundTrip) {
  Simulation simulation = forty_requests();
  simulation.options.nodes.round_trip = std::chrono::milliseconds{50};
  const NodesReport nodes = on_nodes(simulation, 2, Consistency::leased);
  EXPECT_EQ(nodes.admitted, 40U);
  EXPECT_EQ(nodes.without_round_trip, 16U);
  simulation.options.nodes.round_trip = Duration::zero();
  EXPECT_EQ(on_nodes(simulation, 2, Consistency::leased).without_round_trip, 24U);
}

TEST(Nodes, ConsistencyIsThatOfThePolicyUnlessOverridden) {
  Simulation simulation(R"(
  - { name: leased, consumer_key: ip, algorithm: fixed_window, rate: 100/min, consistency: leased }
  - { name: exact, consumer_key: ip, algorithm: fixed_window, rate: 100/min }
  - { name: small, consumer_key: ip, algorithm: fixed_window, rate: 7/min, consistency: leased }
)");
  simulation.request(0, "192.0.2.1");
  const NodesReport own = on_nodes(simulation, 2, std::nullopt);
  EXPECT_EQ(own.consistency, "");
  EXPECT_EQ(own.limits.at(0).consistency, "leased");
  EXPECT_EQ(own.limits.at(1).consistency, "exact");
  EXPECT_EQ(own.limits.at(2).consistency, "exact (small)");
  const NodesReport overridden = on_nodes(simulation, 2, Consistency::leased);
  EXPECT_EQ(overridden.consistency, "leased");
  EXPECT_EQ(overridden.limits.at(1).consistency, "leased");
  EXPECT_EQ(on_nodes(simulation, 2, Consistency::exact).limits.at(0).consistency, "exact");
}

// The first node gets eight requests, which the store decides; with the eighth it leases four units. The store admits 4
// of 16 for the other node, and then denies while the first has four unused units.
Simulation leased_to_another_node() {
  Simulation simulation(R"(
  - { name: by-ip, consumer_key: ip, algorithm: fixed_window, rate: 16/min }
)");
  const auto to_first = [&](int at) {
    simulation.request(at, "192.0.2.1");
    simulation.request(at + 1, "192.0.2.2", "/", "", "POST");
  };
  for (int i = 0; i < 8; ++i) to_first(i * 20);
  simulation.request(165, "192.0.2.3");  // so that the next goes to the second node
  for (int i = 0; i < 7; ++i) {
    simulation.request(170 + i * 20, "192.0.2.1");
    simulation.request(171 + i * 20, "192.0.2.3");
  }
  return simulation;
}

TEST(Nodes, UnitsLeasedToOneNodeAreDeniedToTheOthers) {
  Simulation simulation = leased_to_another_node();
  const NodesReport::OfLimit limit = on_nodes(simulation, 2, Consistency::leased).limits.at(0);
  EXPECT_EQ(limit.exact_denied, 0U);
  EXPECT_EQ(limit.denied, 3U);
  EXPECT_EQ(limit.newly_denied, 3U);
  EXPECT_EQ(limit.contended_denials, 3U);
  EXPECT_EQ(limit.newly_admitted, 0U);
}

TEST(Nodes, UnusedUnitsAreReturned) {
  Simulation simulation = leased_to_another_node();
  simulation.request(1'501, "192.0.2.1");  // to the second node
  const NodesReport::OfLimit limit = on_nodes(simulation, 2, Consistency::leased).limits.at(0);
  EXPECT_EQ(limit.newly_denied, 3U);  // only three, not four
}

TEST(Nodes, AClientCanStayOnItsNode) {
  Simulation simulation = leased_to_another_node();
  simulation.options.nodes.spread = Spread::client;
  const NodesReport nodes = on_nodes(simulation, 2, Consistency::leased);
  EXPECT_EQ(nodes.newly_denied, 0U);
  EXPECT_EQ(nodes.limits.at(0).denied, 0U);
}

// Three nodes with round-robin requests far beyond the limit.
TEST(Nodes, ApproximateLimitsStayWithinTheirBound) {
  Simulation simulation(R"(
  - { name: rough, consumer_key: ip, algorithm: fixed_window, rate: 120/h }
)");
  for (int i = 0; i < 600; ++i) simulation.request(i / 10, "192.0.2.1");
  const NodesReport nodes = on_nodes(simulation, 3, Consistency::approximate);
  const NodesReport::OfLimit& limit = nodes.limits.at(0);
  EXPECT_EQ(limit.consistency, "approximate");
  EXPECT_EQ(limit.max_excess, 30U);
  ASSERT_TRUE(limit.over);
  EXPECT_LE(*limit.over, 30U);
  EXPECT_GE(limit.admitted, 114U);
  EXPECT_LE(limit.admitted, 150U);
  EXPECT_EQ(limit.without_round_trip, limit.evaluated);
}

TEST(Nodes, TooManyAreAnError) {
  Simulation simulation(R"(
  - { name: any, consumer_key: ip, algorithm: fixed_window, rate: 100/min }
)");
  simulation.request(0, "192.0.2.1");
  const LogFile file(simulation.log);
  simulation.options.logs = {file.path()};
  simulation.options.nodes.nodes = 1'001;
  EXPECT_FALSE(simulate(simulation.options));
}

TEST(Nodes, TimesBeforeTheEpochAreValid) {
  for (const int year : {1, 1969, 2025}) {
    Simulation simulation(hundred_per_minute);
    for (int i = 0; i < 40; ++i) {
      simulation.log += fmt::format(
          R"({{"ts":"{:04}-03-14T09:00:00.{:03}Z","remote_addr":"192.0.2.1","request_method":"GET","request_uri":"/"}})"
          "\n",
          year, i * 10);
    }
    const NodesReport nodes = on_nodes(simulation, 2, Consistency::leased);
    EXPECT_EQ(nodes.admitted, 40U) << year;
    EXPECT_EQ(nodes.without_round_trip, 24U) << year;
  }
}

TEST(Nodes, AreInEveryReportFormat) {
  Simulation simulation = forty_requests();
  simulation.options.nodes.nodes = 2;
  simulation.options.nodes.consistency = Consistency::leased;
  const Report report = simulation.run();
  EXPECT_NE(report_text(report).find("On 2 nodes, leased, 1 ms from the store, requests round-robin"),
            std::string::npos);
  EXPECT_NE(report_text(report).find("60.0 % of the requests without a round trip; 18 messages"), std::string::npos);
  EXPECT_NE(report_html(report).find("On 2 nodes, leased, 1 ms from the store"), std::string::npos);
  EXPECT_NE(report_json(report).find(R"("without_round_trip": 24)"), std::string::npos);
}

}  // namespace
}  // namespace weir::simulate
