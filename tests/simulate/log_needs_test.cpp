// Properties that a policy needs and a log lacks.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simulate/report_words.h"
#include "tests/simulate/simulation.h"

namespace weir::simulate {
namespace {

constexpr auto by_user_and_plan = R"(
- name: api
  consumer_key: user
  missing: deny
  algorithm: fixed_window
  rate: 2/min
  tier_overrides: { pro: { rate: 100/min } }
)";

using Lines = std::vector<std::string>;

Simulation of_alice(int requests) {
  Simulation simulation(by_user_and_plan);
  for (int i = 0; i < requests; ++i) simulation.request(i, "192.0.2.1", "/", "alice");
  return simulation;
}

TEST(LogNeeds, ReportsThatNoLineHasATier) {
  const Report report = of_alice(10).run();
  EXPECT_EQ(report.policy.denied, 8U);
  EXPECT_EQ(
      cautions_on(report.log),
      Lines{"no line has a tier: all requests count as tier 'default', but api distinguishes tiers; use --tiers FILE "
            "or --field tier=PATH"});
}

TEST(LogNeeds, TiersFileSuppliesTheTiers) {
  Simulation simulation = of_alice(10);
  simulation.request(11, "192.0.2.1", "/", "bob");
  simulation.options.tiers = std::make_shared<const TiersFile>(
      TiersFile::read("alice,pro\n", "tiers.csv", simulation.options.policy->tiers.names).value());
  const Report report = simulation.run();
  EXPECT_EQ(report.policy.denied, 0U);
  EXPECT_EQ(report.log.tiers_from_file, 10U);
  EXPECT_EQ(cautions_on(report.log),
            Lines{"1 request has a user that --tiers does not list: counted as tier 'default'"});
}

TEST(LogNeeds, TheTierOfALineTakesPrecedenceOverTheFile) {
  Simulation simulation(by_user_and_plan);
  simulation.options.log.fields = FieldMap::with(std::vector<std::string>{"tier=plan"}).value();
  for (int i = 0; i < 5; ++i) {
    simulation.log += fmt::format(
        R"({{"ts":17000000{:02},"remote_addr":"192.0.2.1","remote_user":"alice","request_uri":"/","plan":"default"}})"
        "\n",
        i);
  }
  simulation.options.tiers = std::make_shared<const TiersFile>(
      TiersFile::read("alice,pro\n", "tiers.csv", simulation.options.policy->tiers.names).value());
  const Report report = simulation.run();
  EXPECT_EQ(report.policy.denied, 3U);
  EXPECT_EQ(cautions_on(report.log), Lines{});
}

TEST(LogNeeds, ReportsThatNoLineHasAUserAKeyOrAHeader) {
  Simulation simulation(R"(
- { name: a, consumer_key: [user, ip], algorithm: gcra, rate: 1/s }
- { name: b, consumer_key: api_key, algorithm: gcra, rate: 1/s }
- { name: c, consumer_key: "header:X-Team", algorithm: gcra, rate: 1/s }
- { name: d, consumer_key: user+route, algorithm: gcra, rate: 1/s }
)");
  simulation.request(0, "192.0.2.1");
  const Report report = simulation.run();
  EXPECT_EQ(cautions_on(report.log),
            (Lines{"no line has a user, but a and d are keyed by it: all requests are decided without one; use --field "
                   "user=PATH",
                   "no line has an API key, but b is keyed by it: all requests are decided without one; use --field "
                   "api_key=PATH",
                   "no line has the header x-team, but c is keyed by it: all requests are decided without one; use "
                   "--field header:x-team=PATH"}));
  const std::string text = report_text(report);
  EXPECT_LT(text.find("Missing from the log: the figures may be wrong"), text.find("\nLimits\n"));
  EXPECT_NE(report_html(report).find("no line has the header x-team"), std::string::npos);
  EXPECT_NE(report_json(report).find("\"header:x-team\""), std::string::npos);
}

TEST(LogNeeds, OneLineWithThemIsEnough) {
  Simulation simulation("- { name: a, consumer_key: [user, ip], algorithm: gcra, rate: 1/s }\n");
  simulation.request(0, "192.0.2.1");
  simulation.request(1, "192.0.2.1", "/", "alice");
  EXPECT_EQ(cautions_on(simulation.run().log), Lines{});
}

TEST(LogNeeds, TiersAreNotNeededIfTheyHaveTheSameNumbers) {
  Simulation simulation(R"(
- { name: a, consumer_key: ip, algorithm: gcra, rate: 1/s, tier_overrides: { pro: { rate: 1/s } } }
)");
  simulation.request(0, "192.0.2.1");
  EXPECT_EQ(cautions_on(simulation.run().log), Lines{});
}

TEST(LogNeeds, IncludeThoseOfACandidate) {
  Simulation simulation("- { name: a, consumer_key: ip, algorithm: gcra, rate: 1/s }\n");
  simulation.options.candidate = ruleset("- { name: b, consumer_key: user, algorithm: gcra, rate: 1/s }\n");
  simulation.request(0, "192.0.2.1");
  EXPECT_EQ(cautions_on(simulation.run().log).size(), 1U);
}

TEST(LogNeeds, AnEmptyLogLacksNothing) {
  EXPECT_EQ(cautions_on(Simulation(by_user_and_plan).run().log), Lines{});
}

}  // namespace
}  // namespace weir::simulate
