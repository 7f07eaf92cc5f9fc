// Tests reading the configuration of envoyproxy/ratelimit.
#include "policy/read/rls_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "policy/load.h"
#include "tests/policy/mistake_files.h"

namespace weir::policy::rls {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

struct Reading {
  std::optional<DomainSpec> domain;
  std::string problems;
};

Reading reading(std::string_view text) {
  Problems problems("ratelimit.yaml");
  Reading result;
  if (const auto root = text::parse_yaml(text, problems)) result.domain = read(*root, problems);
  result.problems = problem_lines(problems.sorted());
  return result;
}

// Returns the only descriptor of a valid domain.
DescriptorSpec descriptor(const std::string& fields) {
  const Reading result = reading("domain: d\ndescriptors:\n  - { " + fields + " }\n");
  EXPECT_EQ(result.problems, "");
  return result.domain && result.domain->descriptors.size() == 1 ? result.domain->descriptors[0] : DescriptorSpec{};
}

Duration window_of(const std::string& unit) {
  const auto read = descriptor("key: k, rate_limit: { requests_per_unit: 1, unit: " + unit + " }");
  return read.rate_limit ? read.rate_limit->value.window : Duration{};
}

class RlsMistakes : public testing::TestWithParam<MistakeFile> {};

TEST_P(RlsMistakes, AreRefusedWithTheirPlace) {
  const Reading result = reading(GetParam().text);
  EXPECT_EQ(result.problems, GetParam().expected);
  EXPECT_FALSE(result.domain);
}

INSTANTIATE_TEST_SUITE_P(EachFile, RlsMistakes, testing::ValuesIn(mistake_files("mistakes_rls")),
                         [](const auto& file) { return file.param.name; });

TEST(RlsReader, ReadsTheTreeOfDescriptorsWithPlaces) {
  const Reading result = reading(R"(domain: mongo_cps
descriptors:
  - key: database
    value: users
    rate_limit: { unit: second, requests_per_unit: 500 }
    descriptors:
      - key: path
        rate_limit: { unit: minute, requests_per_unit: 7 }
  - key: database
)");
  EXPECT_EQ(result.problems, "");
  ASSERT_TRUE(result.domain);
  EXPECT_EQ(result.domain->name.value, "mongo_cps");
  EXPECT_EQ(result.domain->name.at, (Mark{1, 9}));
  ASSERT_EQ(result.domain->descriptors.size(), 2U);
  const DescriptorSpec& users = result.domain->descriptors[0];
  EXPECT_EQ(users.at, (Mark{3, 5}));
  EXPECT_EQ(users.key, "database");
  EXPECT_EQ(users.value, "users");
  EXPECT_EQ(users.rate_limit->value.limit, 500U);
  EXPECT_EQ(users.rate_limit->value.window, seconds{1});
  ASSERT_EQ(users.descriptors.size(), 1U);
  EXPECT_EQ(users.descriptors[0].value, std::nullopt);
  EXPECT_EQ(users.descriptors[0].rate_limit->value.limit, 7U);
  EXPECT_FALSE(result.domain->descriptors[1].rate_limit);
}

TEST(RlsReader, KnowsEveryUnitInAnyCase) {
  EXPECT_EQ(window_of("second"), seconds{1});
  EXPECT_EQ(window_of("MINUTE"), minutes{1});
  EXPECT_EQ(window_of("Hour"), hours{1});
  EXPECT_EQ(window_of("day"), days{1});
  EXPECT_EQ(window_of("week"), days{7});
  EXPECT_EQ(window_of("month"), days{30});
  EXPECT_EQ(window_of("year"), days{365});
}

TEST(RlsReader, TakesAnyScalarAsAValue) {
  EXPECT_EQ(descriptor("key: code, value: 401").value, "401");
  EXPECT_EQ(descriptor("key: code, value: 010").value, "010");
  EXPECT_EQ(descriptor("key: flag, value: true").value, "true");
  EXPECT_EQ(descriptor("key: path, value: '/api*'").value, "/api*");
}

TEST(RlsReader, TakesAnEmptyValueForNone) {
  EXPECT_EQ(descriptor("key: k, value: ''").value, std::nullopt);
  EXPECT_EQ(descriptor("key: k, value: null").value, std::nullopt);
}

TEST(RlsReader, ReadsTheSwitches) {
  const auto plain = descriptor("key: k");
  EXPECT_FALSE(plain.shadow_mode || plain.detailed_metric || plain.share_threshold || plain.unlimited ||
               plain.quota_mode);
  const auto all = descriptor(
      "key: k, value: a*, shadow_mode: true, detailed_metric: Yes, share_threshold: on, quota_mode: true, "
      "value_to_metric: true, "
      "rate_limit: { unit: day, requests_per_unit: 4294967295 }");
  EXPECT_TRUE(all.shadow_mode && all.detailed_metric && all.share_threshold && all.quota_mode);
  EXPECT_EQ(all.value_to_metric, (Mark{3, 123}));
  EXPECT_EQ(all.rate_limit->value.limit, 4'294'967'295U);
}

TEST(RlsReader, ReadsABanWithItsUnit) {
  const auto ban = descriptor("key: k, rate_limit: { unit: hour, requests_per_unit: 0 }");
  ASSERT_TRUE(ban.rate_limit);
  EXPECT_EQ(ban.rate_limit->value.limit, 0U);
  EXPECT_EQ(ban.rate_limit->value.window, Duration{hours{1}});
}

TEST(RlsReader, ReadsMetadataAsYamlMeansIt) {
  using Kind = MetadataValue::Kind;
  const auto read = descriptor(
      "key: k, metadata: { text: second, quoted: '5', number: -2.5, whole: 5, yes: Yes, no: off, none: ~, "
      "nan: .nan, list: [a, 1], map: { deep: { x: z } } }");
  ASSERT_TRUE(read.metadata);
  const MetadataValue& map = *read.metadata;
  const auto at = [&](std::string_view name) {
    const auto found = std::find(map.names.begin(), map.names.end(), name);
    return found == map.names.end() ? MetadataValue{} : map.items[static_cast<std::size_t>(found - map.names.begin())];
  };
  EXPECT_EQ(map.kind, Kind::map);
  EXPECT_EQ(at("text").text, "second");
  EXPECT_EQ(at("quoted").kind, Kind::text);
  EXPECT_EQ(at("number").number, -2.5);
  EXPECT_EQ(at("whole").kind, Kind::number);
  EXPECT_TRUE(at("yes").kind == Kind::truth && at("yes").truth);
  EXPECT_TRUE(at("no").kind == Kind::truth && !at("no").truth);
  EXPECT_EQ(at("none").kind, Kind::null);
  EXPECT_EQ(at("nan").text, ".nan");
  EXPECT_EQ(at("list").items.size(), 2U);
  EXPECT_EQ(at("map").items.at(0).items.at(0).text, "z");
  EXPECT_FALSE(descriptor("key: k, metadata: {}").metadata);
}

TEST(RlsReader, ReadsUnlimited) {
  const auto free = descriptor("key: k, rate_limit: { unlimited: true, name: free }");
  EXPECT_TRUE(free.unlimited);
  EXPECT_EQ(free.name, "free");
  EXPECT_FALSE(free.rate_limit);
}

TEST(RlsReader, ReadsWhatALimitReplaces) {
  const auto read = descriptor(
      "key: k, rate_limit: { unit: day, requests_per_unit: 1, name: a, replaces: [{ name: b }, { name: c }] }");
  EXPECT_EQ(read.name, "a");
  EXPECT_EQ(read.replaces, (std::vector<std::string>{"b", "c"}));
}

TEST(RlsReader, LetsOneKeyHaveSeveralValuesAndOneValueSeveralKeys) {
  const Reading result = reading(R"(domain: d
descriptors:
  - { key: a, value: b }
  - { key: a, value: c }
  - { key: b, value: b }
  - { key: a }
  - { key: a, value: b_c }
  - { key: a_b, value: c }
)");
  EXPECT_EQ(result.problems, "");
  EXPECT_EQ(result.domain->descriptors.size(), 6U);
}

TEST(RlsReader, SaysEveryMistakeAtOnce) {
  EXPECT_EQ(reading("domain: d\ndescriptors:\n  - kye: a\n  - key: b\n    rate_limit: { unit: eon }\n").problems,
            "3:5: unknown field 'kye', did you mean 'key'?\n"
            "3:5: missing or empty key in a descriptor\n"
            "5:17: missing requests_per_unit");
}

TEST(RlsReader, WarnsOfWhatHasNoEffect) {
  EXPECT_EQ(reading("domain: d\n").problems, "1:1: warning: no descriptors: nothing is limited");
  EXPECT_EQ(reading("domain: d\ndescriptors: [{ key: k, shadow_mode: true }]\n").problems,
            "2:38: warning: shadow_mode has no effect: the descriptor has no rate_limit");
  EXPECT_EQ(
      reading("domain: d\ndescriptors: [{ key: k, rate_limit: { unlimited: true, requests_per_unit: 5 } }]\n").problems,
      "2:75: warning: requests_per_unit has no effect with unlimited");
}

// Files modelled on the examples and tests of envoyproxy/ratelimit.
TEST(RlsFiles, LoadAsTheyAre) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(source_folder() / "tests" / "policy" / "valid_rls")) {
    SCOPED_TRACE(entry.path().filename());
    const Loaded loaded = load_path(entry.path());
    EXPECT_NE(loaded.ruleset, nullptr) << problem_lines(loaded.problems);
    ++files;
  }
  EXPECT_GE(files, 9U);
}

TEST(RlsFiles, BanOneValueOfAKey) {
  const Loaded loaded = load_path(source_folder() / "tests/policy/valid_rls/ban_of_one_value.yaml");
  ASSERT_TRUE(loaded.ruleset);
  const Descriptor& partner = loaded.ruleset->domains.at(0).descriptors.at(0).children.at(1);
  EXPECT_EQ(partner.banned_per, Duration{minutes{1}});
  ASSERT_TRUE(partner.limit);
  const TieredLimit& live = loaded.ruleset->limits.at(*partner.limit).live;
  EXPECT_TRUE(live.bans(0));
  EXPECT_EQ(live.by_tier, (std::vector<std::optional<Limit>>{std::nullopt}));
}

TEST(RlsFiles, AreTaughtThatNoValueBecomesALabel) {
  EXPECT_EQ(problem_lines(load_path(source_folder() / "tests/policy/valid_rls/metrics.yaml").problems),
            "6:22: warning: value_to_metric of descriptor 'route' has no effect: values that clients can choose do not "
            "become metric labels; list the values that matter as descriptors");
}

TEST(RlsDomains, AreTakenInTheOrderOfTheirFiles) {
  Problems problems("any.yaml");
  Domains domains(SameDomain::rejected);
  domains.add({{"b", {1, 9}}, {}}, problems);
  domains.add({{"a", {1, 9}}, {}}, problems);
  const PolicySpec policy = std::move(domains).take();
  EXPECT_EQ(policy.identity, Identity::defaults());
  ASSERT_EQ(policy.domains.size(), 2U);
  EXPECT_EQ(policy.domains[0].name.value, "b");
  EXPECT_EQ(policy.domains[1].name.value, "a");
}

TEST(RlsDomains, AreInOneFileEach) {
  Domains domains(SameDomain::rejected);
  Problems first("one.yaml");
  Problems second("two.yaml");
  domains.add({{"a", {3, 9}}, {}}, first);
  domains.add({{"a", {1, 9}}, {}}, second);
  EXPECT_EQ(problem_lines(first.sorted()), "");
  EXPECT_EQ(problem_lines(second.sorted()),
            "1:9: duplicate domain 'a': already defined in one.yaml:3:9; to merge them, set 'merge_domains: true' in "
            "weir.yaml (or lint with --merge-domains)");
  EXPECT_EQ(std::move(domains).take().domains.size(), 1U);
}

TEST(RlsExamples, LoadWithoutProblems) {
  const auto folder = source_folder() / "examples" / "ratelimit";
  EXPECT_EQ(problem_lines(load_path(folder / "accounts.yaml").problems), "");
  EXPECT_EQ(problem_lines(load_path(folder / "messaging.yaml").problems), "");
  const Loaded both = load_path(folder);
  EXPECT_EQ(problem_lines(both.problems), "");
  ASSERT_TRUE(both.ruleset);
  EXPECT_EQ(both.ruleset->domains.size(), 2U);
}

}  // namespace
}  // namespace weir::policy::rls
