#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "policy_test/suite.h"

namespace weir::policy_test {
namespace {

std::vector<SuiteReport> two_results() {
  SuiteReport report;
  report.test_path = "policy.test.yaml";
  report.policy_path = "policy.yaml";
  report.results.push_back({"ten <logins> & #more", {4, 5}, "proved: 10, by login", {}, 11});
  report.results.push_back({"a denial", {9, 5}, "", {{{12, 17}, "status is 200; expected 429"}}, 1});
  report.coverage = {.parts = 3, .untouched = {{{7, 5}, "login", "tier pro"}}};
  report.mutation = MutationReport{.mutants = 4, .survivors = {{{7, 5}, "login", "10/min -> 11/min", "send 11"}}};
  return {report};
}

TEST(TestReport, ForPeopleHasEachTestWhatIsUntestedAndATotal) {
  const auto reports = two_results();
  EXPECT_EQ(report_text(reports[0]),
            "policy.test.yaml with policy.yaml\n"
            "  ok   ten <logins> & #more (proved: 10, by login)\n"
            "  FAIL a denial\n"
            "       policy.test.yaml:12:17: status is 200; expected 429\n"
            "  coverage: 2 of 3 parts\n"
            "    policy.yaml:7:5 login: no test has tier pro\n"
            "  mutants: 3 of 4 detected (75 %)\n"
            "    policy.yaml:7:5 login: no test detects 10/min -> 11/min\n"
            "      missing test: send 11\n");
  EXPECT_EQ(summary_text(reports), "1 passed, 1 failed; 12 requests\n");
}

TEST(TestReport, InTapEscapesNamesAndHasTheFailuresAsYaml) {
  EXPECT_EQ(report_tap(two_results()),
            "TAP version 14\n"
            "1..2\n"
            "ok 1 - policy.yaml: ten <logins> & \\#more\n"
            "not ok 2 - policy.yaml: a denial\n"
            "  ---\n"
            "  failures:\n"
            "    - message: \"status is 200; expected 429\"\n"
            "      at: \"policy.test.yaml:12:17\"\n"
            "  ...\n");
}

TEST(TestReport, InJunitEscapesNames) {
  EXPECT_EQ(report_junit(two_results()),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuites>\n"
            "  <testsuite name=\"policy.test.yaml with policy.yaml\" tests=\"2\" failures=\"1\">\n"
            "    <testcase name=\"ten &lt;logins&gt; &amp; #more\" classname=\"policy.yaml\" file=\"policy.test.yaml\" "
            "line=\"4\"/>\n"
            "    <testcase name=\"a denial\" classname=\"policy.yaml\" file=\"policy.test.yaml\" line=\"9\">\n"
            "      <failure message=\"status is 200; expected 429\">policy.test.yaml:12:17</failure>\n"
            "    </testcase>\n"
            "  </testsuite>\n"
            "</testsuites>\n");
}

}  // namespace
}  // namespace weir::policy_test
