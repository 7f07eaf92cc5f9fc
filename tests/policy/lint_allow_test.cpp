// Tests that every warning has a rule, and that a comment can allow it.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/rules.h"
#include "tests/policy/linted.h"

namespace weir::policy {
namespace {

using Names = std::vector<std::string_view>;

Names rules_of(std::string_view text) {
  Names names;
  for (const Problem& problem : load_text(text, "p").problems) {
    EXPECT_EQ(problem.severity, Severity::warning) << problem.text();
    names.push_back(problem.rule.name);
  }
  return names;
}

std::string descriptor(const std::string& fields) {
  return "domain: shop\ndescriptors:\n- { " + fields + " }\n";
}

// One policy for each rule, with that one warning.
const std::vector<std::pair<text::Rule, std::string>>& provoking() {
  static const std::string gcra = ", algorithm: gcra, rate: 10/s";
  static const std::string penalty = ", penalty: { after: 5, within: 1min, block: 10min }";
  static const std::string by_ip = "name: by-ip, when: anonymous, consumer_key: ip" + gcra;
  static const std::string document = "openapi: 3.1.0\ninfo: { title: x, version: '1' }\n";
  static const std::vector<std::pair<text::Rule, std::string>> policies{
      {rule::unverified_key, policy_of({"name: a, consumer_key: 'header:X-Tenant'" + gcra})},
      {rule::penalty_lockout, policy_of({by_ip, "name: a, consumer_key: 'header:X-Tenant'" + gcra + penalty})},
      {rule::ip_alone, policy_of({"name: a, when: authenticated, consumer_key: ip" + gcra})},
      {rule::raw_path_key, policy_of({by_ip, "name: a, consumer_key: 'header:X-Original-Uri'" + gcra})},
      {rule::uncovered_request, policy_of({"name: a, consumer_key: user" + gcra})},
      {rule::unreachable_limit, policy_of({"name: a, consumer_key: ip" + gcra, "name: b, consumer_key: ip" + gcra})},
      {rule::single_segment, policy_of({"name: a, routes: [/api/*], consumer_key: ip" + gcra})},
      {rule::nothing_limited, "domain: shop\n"},
      {rule::fixed_window_on_writes,
       policy_of({"name: a, routes: [POST /x], consumer_key: ip, algorithm: fixed_window, rate: 10/min"})},
      {rule::large_burst, policy_of({"name: a, consumer_key: ip, algorithm: gcra, rate: 1/s, burst: 100000"})},
      {rule::small_burst, policy_of({"name: a, consumer_key: ip, algorithm: gcra, rate: 100/s, burst: 2"})},
      {rule::unread_tier, policy_of({"name: a, consumer_key: ip, tier_overrides: { pro: unlimited }" + gcra})},
      {rule::no_effect_in_shadow, policy_of({"name: a, consumer_key: ip, mode: shadow" + gcra + penalty})},
      {rule::no_effect, descriptor("key: a, shadow_mode: true")},
      {rule::unused_allow, policy_of({by_ip}) + "# weir: allow ip-alone because of nothing\n"},
      {rule::exact_anyway, policy_of({"name: a, consumer_key: ip, algorithm: gcra, rate: 7/s, consistency: leased"})},
      {rule::approximate_nodes,
       policy_of({"name: a, consumer_key: ip, algorithm: fixed_window, rate: 100/min, consistency: approximate"})},
      {rule::approximate_sync, policy_of({"name: a, consumer_key: ip, algorithm: fixed_window, rate: 100000/s, "
                                          "consistency: { approximate: { sync: 10s } }"})},
      {rule::unbounded_usage, policy_of({"name: a, consumer_key: ip, usage: reported" + gcra})},
      {rule::receipt_size,
       [] {
         Lines limits;
         for (const std::string name : {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o"}) {
           const std::string rate = std::to_string(20 - limits.size());
           limits.push_back("name: " + name + ", consumer_key: 'ip+header:" + name +
                            "', usage: reserved, missing: " + "share, algorithm: gcra, rate: " + rate + "/s");
         }
         limits.push_back("name: p, consumer_key: ip, algorithm: gcra, rate: 1/s");
         return policy_of(limits);
       }()},
      {rule::relative_server_url, document +
                                      "servers: [{ url: api }]\n"
                                      "x-rate-limit: { name: a, consumer_key: ip" +
                                      gcra +
                                      " }\n"
                                      "paths: { /x: { get: {} } }\n"},
      {rule::misplaced_field, document +
                                  "tiers: { default: free }\n"
                                  "x-rate-limit: { name: a, consumer_key: ip" +
                                  gcra +
                                  " }\n"
                                  "paths: { /x: { get: {} } }\n"},
      {rule::unread_security_scheme,
       document +
           "components: { securitySchemes: { one: { type: apiKey, in: header, name: X-One },\n"
           "  two: { type: apiKey, in: header, name: X-Api-Key } } }\n"
           "x-rate-limit: { name: a, consumer_key: ip" +
           gcra +
           " }\n"
           "paths: { /x: { get: {} } }\n"},
  };
  return policies;
}

TEST(LintRules, EachIsGivenByAPolicyAndCarriesItsName) {
  std::set<std::string_view> seen;
  for (const auto& [rule, text] : provoking()) {
    EXPECT_EQ(rules_of(text), Names{rule.name}) << text;
    seen.insert(rule.name);
  }
  std::set<std::string_view> known;
  for (const text::Rule& rule : rule::all) known.insert(rule.name);
  EXPECT_EQ(seen, known);
}

TEST(LintRules, AreNamedBehindTheMessage) {
  const auto problems =
      load_text(policy_of({"name: a, routes: [/api/*], consumer_key: ip, algorithm: gcra, rate: 1/s"}), "p").problems;
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_TRUE(problems.front().text().ends_with(" [single-segment]")) << problems.front().text();
}

// Puts `comment` at the end of the line with the only warning, or on its own line before it.
std::string with_comment(const std::string& text, const std::string& comment, bool alone) {
  const auto problems = load_text(text, "p").problems;
  std::string out;
  int line = 1;
  for (std::size_t begin = 0; begin < text.size(); ++line) {
    const std::size_t end = text.find('\n', begin);
    const bool here = line == problems.front().at.line;
    if (here && alone) out += comment + "\n";
    out += text.substr(begin, end - begin) + (here && !alone ? " " + comment : "") + "\n";
    begin = end + 1;
  }
  return out;
}

TEST(LintAllow, SilencesEveryRuleFromItsLineAndFromTheLineAbove) {
  for (const auto& [rule, text] : provoking()) {
    if (rule == rule::unused_allow) continue;
    const std::string comment = "# weir: allow " + std::string(rule.name) + " because it is a test";
    for (const bool alone : {false, true}) {
      const std::string allowed = with_comment(text, comment, alone);
      EXPECT_EQ(problems_of(allowed), Lines{}) << allowed;
    }
  }
}

const std::string starred = "name: a, routes: [/api/*], consumer_key: ip, algorithm: gcra, rate: 1/s";

TEST(LintAllow, SilencesOneRuleAndNoOther) {
  const std::string both = "name: a, routes: [/api/*], consumer_key: user, algorithm: gcra, rate: 1/s";
  EXPECT_EQ(rules_of("version: 1\nlimits:\n- { " + both + " } # weir: allow single-segment because x\n"),
            Names{"uncovered-request"});
  EXPECT_EQ(rules_of("version: 1\nlimits:\n# weir: allow single-segment because x\n"
                     "# weir: allow uncovered-request because y\n- { " +
                     both + " }\n"),
            Names{});
}

TEST(LintAllow, ThatSilencesNothingIsAWarning) {
  EXPECT_EQ(problems_of("version: 1\n# weir: allow single-segment because x\nlimits:\n- { " + starred + " }\n").front(),
            "2:3: no single-segment warning in line 3: remove or move the comment");
  EXPECT_EQ(problems_of(policy_of({"name: a, consumer_key: ip, algorithm: gcra, rate: 1/s"}) +
                        "# weir: allow single-segment because x\n"),
            Lines{"4:3: no single-segment warning in line 4: remove or move the comment"});
}

TEST(LintAllow, MayBeAboutAnotherNumberOfNodes) {
  const std::string text =
      policy_of({"name: a, consumer_key: ip, algorithm: fixed_window, rate: 1000/min, "
                 "consistency: approximate"});
  const std::string allowed = with_comment(text, "# weir: allow approximate-nodes because there are few", false);
  for (const std::uint64_t nodes : {4U, 64U}) {
    EXPECT_TRUE(load_text(allowed, "p", {.nodes = nodes}).problems.empty()) << nodes;
  }
}

TEST(LintAllow, NeedsARuleThatExistsAndAReason) {
  const auto problem_of = [](const std::string& comment) {
    return problems_of("version: 1\nlimits:\n- { " + starred + " } " + comment + "\n").front();
  };
  const std::string place = "error: 3:81: ";
  EXPECT_EQ(problem_of("# weir: allow single-segmnt because x"),
            place + "unknown rule 'single-segmnt', did you mean 'single-segment'?");
  EXPECT_EQ(problem_of("# weir: allow everything because x"),
            place + "unknown rule 'everything'; see docs/reference-lint.md");
  EXPECT_EQ(problem_of("# weir: allow single-segment"),
            place + "missing reason: write '# weir: allow single-segment because REASON'");
  EXPECT_EQ(problem_of("# weir: allow single-segment because"),
            place + "missing reason: write '# weir: allow single-segment because REASON'");
  EXPECT_EQ(problem_of("# weir: allow because x"), place + "missing rule: write '# weir: allow RULE because REASON'");
  EXPECT_EQ(problem_of("# weir: allow unused-allow because x"),
            place + "unused-allow cannot be allowed: remove the unused comment instead");
}

TEST(LintAllow, IsNotReadFromTextOrOtherComments) {
  EXPECT_EQ(
      rules_of("version: 1\nlimits: # weir: the limiter\n- { " + starred + " } # allow single-segment because x\n"),
      Names{"single-segment"});
  EXPECT_EQ(rules_of("openapi: 3.1.0\ninfo: { title: '# weir: allow nothing', version: '1' }\n"
                     "x-rate-limit: { name: a, consumer_key: ip, algorithm: gcra, rate: 1/s }\n"
                     "paths: { /x: { get: {} } }\n"),
            Names{});
}

TEST(LintAllow, IsReadInFilesOfADirectoryToo) {
  EXPECT_EQ(rules_of(descriptor("key: path, rate_limit: { unit: day, requests_per_unit: 5 }")), Names{"raw-path-key"});
  EXPECT_EQ(rules_of("domain: shop\ndescriptors:\n# weir: allow raw-path-key because there are few\n"
                     "- { key: path, rate_limit: { unit: day, requests_per_unit: 5 } }\n"),
            Names{});
}

}  // namespace
}  // namespace weir::policy
