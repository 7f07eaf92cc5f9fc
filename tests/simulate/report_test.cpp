// The three formats of a report.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "simulate/report.h"
#include "tests/simulate/simulation.h"

namespace weir::simulate {
namespace {

Simulation busy_day() {
  Simulation simulation(R"(
  - name: by-user
    routes: [/api/**]
    consumer_key: [user, ip]
    algorithm: token_bucket
    rate: 60/min
    burst: 5
    candidate: { rate: 60/min, burst: 3 }
  - { name: everyone, consumer_key: global, algorithm: sliding_window_counter, rate: 100/min }
)");
  simulation.options.candidate = ruleset(R"(
  - { name: everyone, consumer_key: global, algorithm: sliding_window_counter, rate: 50/min }
)");
  simulation.options.candidate_name = "next.yaml";
  simulation.options.names = Names::shown;
  for (int i = 0; i < 80; ++i) simulation.request(i * 250, "192.0.2.1", i % 4 == 0 ? "/login" : "/api/items", "alice");
  for (int i = 0; i < 20; ++i) simulation.request(21'000 + i * 900, fmt::format("192.0.2.{}", 10 + i), "/api/items");
  simulation.log += "{broken\n";
  return simulation;
}

std::filesystem::path golden_file() {
  return std::filesystem::path(WEIR_SOURCE_DIR) / "tests/simulate/golden/report.txt";
}

TEST(ReportText, MatchesTheGoldenFile) {
  const std::string text = report_text(busy_day().run());
  if (std::getenv("WEIR_UPDATE_GOLDEN") != nullptr) std::ofstream(golden_file()) << text;
  std::ostringstream golden;
  golden << std::ifstream(golden_file()).rdbuf();
  EXPECT_EQ(text, golden.str()) << "if this is meant to be: WEIR_UPDATE_GOLDEN=1, and look at the difference";
}

TEST(ReportText, EscapeSequencesOnlyOnRequest) {
  Simulation simulation = busy_day();
  simulation.request(50'000, "192.0.2.1", "/api/x", "\\u001b[31mred");
  for (int i = 0; i < 9; ++i) simulation.request(50'001, "192.0.2.1", "/api/x", "\\u001b[31mred");
  const Report report = simulation.run();
  EXPECT_EQ(report_text(report, Colour::off).find('\033'), std::string::npos);
  const std::string coloured = report_text(report, Colour::on);
  EXPECT_NE(coloured.find("\033[1m"), std::string::npos);
  EXPECT_EQ(coloured.find("\033[31m"), std::string::npos);
}

TEST(ReportJson, ParsesAndMatchesTheReport) {
  const Report report = busy_day().run();
  simdjson::dom::parser parser;
  const simdjson::padded_string text(report_json(report));
  simdjson::dom::element json;
  ASSERT_EQ(parser.parse(text).get(json), simdjson::SUCCESS);
  EXPECT_EQ(json["version"].get_uint64().value(), 1U);
  EXPECT_EQ(json["from"].get_string().value(), "2023-11-14T22:13:20Z");
  EXPECT_EQ(json["policy"]["denied"].get_uint64().value(), report.policy.denied);
  EXPECT_EQ(json["log"]["not_understood"]["not_json"].get_uint64().value(), 1U);
  EXPECT_EQ(json["policy"]["limits"].at(0)["demand"].at(0)["number"].get_string().value(), "burst");
  EXPECT_EQ(json["policy"]["limits"].at(0)["candidate"]["newly_denied"].get_uint64().value(),
            report.policy.limits[0].candidate->newly_denied);
  EXPECT_EQ(json["comparison"]["newly_denied"].get_uint64().value(), report.comparison->newly_denied);
  EXPECT_EQ(json["keys"].get_string().value(), "shown");
}

TEST(ReportJson, ParsesForAnEmptyLog) {
  Simulation simulation("  - { name: a, consumer_key: ip, algorithm: fixed_window, rate: 1/min }\n");
  simdjson::dom::parser parser;
  simdjson::dom::element json;
  const simdjson::padded_string text(report_json(simulation.run()));
  ASSERT_EQ(parser.parse(text).get(json), simdjson::SUCCESS);
  EXPECT_TRUE(json["comparison"].is_null());
}

// A report whose texts are all written by an attacker.
Report hostile() {
  const std::string attack = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>&amp;";
  Report report = busy_day().run();
  const auto rank = [&](HardestHit& hit) { hit.consumers = {{attack, 3, 1}}; };
  const auto poison = [&](PolicyReport& policy) {
    policy.name = policy.digest = attack;
    for (LimitReport& limit : policy.limits) {
      limit.name = limit.algorithm = limit.numbers = limit.consumer_key = limit.mode = attack;
      for (LimitOnRoute& route : limit.routes) route.route = attack;
      rank(limit.hardest_hit);
      for (Demand& demand : limit.demand) {
        demand.tier = demand.numbers = demand.word = attack;
        for (auto& rate : demand.rates) rate.rate = attack;
      }
      if (!limit.candidate) continue;
      limit.candidate->algorithm = limit.candidate->numbers = attack;
      rank(limit.candidate->newly_denied_consumers);
      rank(limit.candidate->newly_admitted_consumers);
    }
    for (RouteReport& route : policy.routes) route.route = attack;
  };
  poison(report.policy);
  poison(*report.candidate);
  for (auto& row : report.comparison->rows) row.limit = row.route = attack;
  for (auto* by : {&report.comparison->newly_denied_by, &report.comparison->newly_admitted_by}) {
    by->push_back({attack, {}});
    for (auto& of : *by) rank(of.consumers);
  }
  report.log.files = {attack};
  report.log.problems = {attack};
  report.log.examples = {{1, Fault::bad_time, attack}};
  return report;
}

std::size_t count(std::string_view text, std::string_view sign) {
  std::size_t found = 0;
  for (std::size_t at = text.find(sign); at != std::string_view::npos; at = text.find(sign, at + 1)) ++found;
  return found;
}

// tests/app/report_page_test.py tests the page in a browser.
TEST(ReportHtml, NoTextCanBecomeMarkup) {
  const Report report = hostile();
  const std::string page = report_html(report);
  constexpr std::string_view begin = "<script type=\"application/json\" id=\"report\">";
  const std::size_t from = page.find(begin) + begin.size();
  const std::string data = page.substr(from, page.find("</script>", from) - from);
  EXPECT_EQ(data.find('<'), std::string::npos);
  EXPECT_EQ(count(page, "<script"), 2U);
  EXPECT_EQ(count(page, "</script"), 2U);
  EXPECT_EQ(page.find("<img"), std::string::npos);
  simdjson::dom::parser parser;
  simdjson::dom::element json;
  const simdjson::padded_string text(data);
  ASSERT_EQ(parser.parse(text).get(json), simdjson::SUCCESS);
  EXPECT_EQ(json["policy"]["name"].get_string().value(), report.policy.name);
}

TEST(ReportHtml, LoadsNothing) {
  const std::string page = report_html(busy_day().run());
  for (const char* sign : {"https:", "src=", "href=", "@import", "url("}) {
    EXPECT_EQ(page.find(sign), std::string::npos) << sign;
  }
  EXPECT_NE(page.find("default-src 'none'; script-src 'sha256-"), std::string::npos);
}

}  // namespace
}  // namespace weir::simulate
