#include "policy/load.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace weir::policy {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

class Folder : public testing::Test {
 protected:
  void SetUp() override {
    path_ = fs::temp_directory_path() /
            (std::string("weir-load-") + testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  void TearDown() override { fs::remove_all(path_); }

  fs::path write(const std::string& name, const std::string& text) {
    std::ofstream(path_ / name) << text;
    return path_ / name;
  }

  // Without the folder's own path.
  Lines errors(const Loaded& loaded) const {
    Lines lines;
    for (const Problem& problem : loaded.problems) {
      if (problem.severity == Severity::error) lines.push_back(problem.text().substr(path_.string().size()));
    }
    return lines;
  }

  fs::path path_;
};

std::string limit(const std::string& fields) {
  return "version: 1\nlimits:\n  - { name: a, consumer_key: user, " + fields + " }\n";
}

std::string digest_of(const std::string& text) {
  const Loaded loaded = load_text(text, "p");
  EXPECT_NE(loaded.ruleset, nullptr) << text;
  return loaded.ruleset == nullptr ? "" : loaded.ruleset->digest;
}

TEST_F(Folder, FileThatIsNotThereIsAProblem) {
  EXPECT_EQ(errors(load_path(path_ / "none.yaml")), Lines{"/none.yaml:1:1: cannot be read: No such file or directory"});
}

TEST_F(Folder, FileIsReadWhateverItIsCalled) {
  EXPECT_NE(load_path(write("policy", limit("algorithm: gcra, rate: 1/s"))).ruleset, nullptr);
}

TEST_F(Folder, LargeFileIsRefusedWithoutReadingItAll) {
  const auto path = write("large.yaml", "");
  fs::resize_file(path, std::uintmax_t{1} << 40);
  EXPECT_EQ(errors(load_path(path)), Lines{"/large.yaml:1:1: the file is too large: at most 10 MiB"});
}

TEST_F(Folder, OfDomainsIsOneRuleset) {
  write("b.yml", "domain: b\ndescriptors:\n  - key: k\n    rate_limit: { unit: second, requests_per_unit: 5 }\n");
  write("a.yaml",
        "domain: a\ndescriptors:\n  - key: k\n    value: v\n    rate_limit: { unit: minute, requests_per_unit: 7 }\n"
        "    descriptors:\n      - { key: l, value: 'x*', rate_limit: { name: mine, unit: hour, requests_per_unit: 9 } "
        "}\n");
  write("notes.txt", "not YAML: at: all");
  write(".hidden.yaml", "]");
  const Loaded loaded = load_path(path_);
  EXPECT_EQ(errors(loaded), Lines{});
  ASSERT_NE(loaded.ruleset, nullptr);
  ASSERT_EQ(loaded.ruleset->domains.size(), 2U);
  EXPECT_EQ(loaded.ruleset->domains[0].name, "a");
  const Descriptor& exact = loaded.ruleset->domains[0].descriptors.at(0);
  EXPECT_EQ(exact.kind, Descriptor::Value::exact);
  EXPECT_EQ(exact.children.at(0).kind, Descriptor::Value::wildcard);
  EXPECT_EQ(loaded.ruleset->domains[1].descriptors.at(0).kind, Descriptor::Value::any);
  Lines names;
  for (const CompiledLimit& each : loaded.ruleset->limits) {
    names.push_back(each.name);
    EXPECT_TRUE(each.by_descriptor());
  }
  EXPECT_EQ(names, (Lines{"a/k_v", "mine", "b/k"}));
  EXPECT_EQ(exact.limit, 0U);
  EXPECT_EQ(exact.children.at(0).limit, 1U);
}

TEST_F(Folder, OfDomainsSaysWhichFileIsWrong) {
  write("a.yaml", "domain: a\ndescriptors: []\n");
  write("b.yaml", "domain: a\ndescriptors: []\n");
  write("c.yaml", "version: 1\nlimits: []\n");
  const Loaded loaded = load_path(path_);
  EXPECT_EQ(loaded.ruleset, nullptr);
  EXPECT_EQ(
      errors(loaded),
      (Lines{"/b.yaml:1:9: duplicate domain 'a': already defined in " + path_.string() +
                 "/a.yaml:1:9; to merge them, set 'merge_domains: true' in weir.yaml (or lint with --merge-domains)",
             "/c.yaml:1:1: missing domain: a policy directory must contain envoyproxy/ratelimit files only"}));
}

TEST_F(Folder, OfDomainsMayHaveSeveralFilesForOne) {
  const auto keys = [](const std::string& list) { return "domain: a\ndescriptors:\n" + list; };
  const std::string limited = ", rate_limit: { unit: second, requests_per_unit: 5 } }\n";
  write("1.yaml", keys("  - { key: k, value: v" + limited + "  - { key: first" + limited));
  write("2.yaml", "domain: b\ndescriptors:\n  - { key: k" + limited);
  write("3.yaml", keys("  - { key: k" + limited + "  - { key: last" + limited));
  const Loaded loaded = load_path(path_, {.merge_domains = true});
  EXPECT_EQ(errors(loaded), Lines{});
  ASSERT_NE(loaded.ruleset, nullptr);
  ASSERT_EQ(loaded.ruleset->domains.size(), 2U);
  Lines merged;
  for (const Descriptor& each : loaded.ruleset->domains[0].descriptors) merged.push_back(each.key + "=" + each.value);
  EXPECT_EQ(merged, (Lines{"k=v", "first=", "k=", "last="}));
  EXPECT_EQ(load_path(path_).ruleset, nullptr);
}

TEST_F(Folder, OfMergedDomainsHasEachDescriptorOnce) {
  const std::string text = "domain: a\ndescriptors:\n  - { key: k, value: v }\n";
  write("1.yaml", text);
  write("2.yaml", text);
  EXPECT_EQ(errors(load_path(path_, {.merge_domains = true})),
            Lines{"/2.yaml:3:5: duplicate descriptor 'k' with value 'v' of domain 'a': already defined in " +
                  path_.string() + "/1.yaml:3:5"});
}

TEST_F(Folder, OfDomainsTellsAFileWithoutOne) {
  write("a.yaml", "descriptors:\n  - { key: k }\n");
  const std::string missing = "missing domain: a file of envoyproxy/ratelimit must name its domain";
  EXPECT_EQ(errors(load_path(path_)), Lines{"/a.yaml:1:1: " + missing});
  EXPECT_EQ(errors(load_path(path_ / "a.yaml")), Lines{"/a.yaml:1:1: " + missing});
}

TEST_F(Folder, WithoutFilesIsAProblem) {
  EXPECT_EQ(errors(load_path(path_)), Lines{":1:1: no *.yaml or *.yml file in this directory"});
}

TEST(Digest, NamesTheMeaningAndNotTheText) {
  const std::string digest = digest_of(limit("algorithm: token_bucket, rate: 60/min, burst: 4"));
  EXPECT_EQ(digest.size(), 64U);
  EXPECT_EQ(digest.find_first_not_of("0123456789abcdef"), std::string::npos);
  for (const auto* same :
       {"burst: 4, rate: 60/min, algorithm: token_bucket", "algorithm: token_bucket, rate: 1/s, burst: 4",
        "algorithm: token_bucket, capacity: 4, refill_rate: 1.0, mode: enforce",
        "algorithm: token_bucket, rate: 60/60s, burst: 4, missing: skip, consistency: exact"}) {
    EXPECT_EQ(digest_of(limit(same)), digest) << same;
  }
  EXPECT_EQ(digest_of("# a comment\n\n" + limit("algorithm: token_bucket, rate: 60/min, burst: 4")), digest);
}

TEST(Digest, IsTheSameForATimeThatIsWrittenOrNot) {
  const std::string numbers = "algorithm: token_bucket, rate: 60/min, burst: 40, consistency: ";
  EXPECT_EQ(digest_of(limit(numbers + "leased")), digest_of(limit(numbers + "{ leased: { lease: 1000ms } }")));
  EXPECT_EQ(digest_of(limit(numbers + "approximate")), digest_of(limit(numbers + "{ approximate: { sync: 100ms } }")));
}

TEST(Digest, ChangesWithTheMeaning) {
  std::vector<std::string> digests{digest_of(limit("algorithm: token_bucket, rate: 60/min, burst: 4"))};
  for (const auto* other :
       {"algorithm: gcra, rate: 60/min, burst: 4",
        "algorithm: token_bucket, rate: 60/min, burst: 5",
        "algorithm: token_bucket, rate: 61/min, burst: 4",
        "algorithm: token_bucket, rate: 60/min, burst: 4, mode: shadow",
        "algorithm: token_bucket, rate: 60/min, burst: 4, cost: 2",
        "algorithm: token_bucket, rate: 60/min, burst: 4, cost: 1",
        "algorithm: token_bucket, rate: 60/min, burst: 4, usage: reported",
        "algorithm: token_bucket, rate: 60/min, burst: 4, usage: reserved",
        "algorithm: concurrency, limit: 4",
        "algorithm: concurrency, limit: 4, lease: 2min",
        "algorithm: concurrency, limit: 5",
        "algorithm: token_bucket, rate: 60/min, burst: 4, routes: [/a]",
        "algorithm: token_bucket, rate: 60/min, burst: 4, when: anonymous",
        "algorithm: token_bucket, rate: 60/min, burst: 4, candidate: { burst: 3 }",
        "algorithm: token_bucket, rate: 60/min, burst: 4, tier_overrides: { a: unlimited }",
        "algorithm: token_bucket, rate: 60/min, burst: 4, tier_overrides: { a: banned }",
        "rate: 0",
        "algorithm: token_bucket, rate: 60/min, burst: 4, warn_first: { count: 1, per: 1h }",
        "algorithm: token_bucket, rate: 60/min, burst: 4, missing: deny",
        "algorithm: token_bucket, rate: 60/min, burst: 4, consistency: leased",
        "algorithm: token_bucket, rate: 60/min, burst: 4, consistency: { leased: { lease: 2s } }",
        "algorithm: token_bucket, rate: 60/min, burst: 4, consistency: approximate",
        "algorithm: token_bucket, rate: 60/min, burst: 4, consistency: { approximate: { sync: 2s } }"}) {
    digests.push_back(digest_of(limit(other)));
  }
  std::sort(digests.begin(), digests.end());
  EXPECT_EQ(std::adjacent_find(digests.begin(), digests.end()), digests.end());
}

TEST(Digest, ChangesWithWhatADescriptorMeans) {
  const auto descriptor = [](const std::string& fields) {
    return digest_of("domain: a\ndescriptors:\n  - { key: k, " + fields + " }\n");
  };
  const std::string limit = "rate_limit: { unit: day, requests_per_unit: 5 }";
  std::vector<std::string> digests{descriptor(limit),
                                   descriptor(limit + ", quota_mode: true"),
                                   descriptor(limit + ", metadata: { a: 1 }"),
                                   descriptor(limit + ", metadata: { a: '1' }"),
                                   descriptor(limit + ", metadata: { a: [1] }"),
                                   descriptor("rate_limit: { unit: day, requests_per_unit: 0 }"),
                                   descriptor("rate_limit: { unit: hour, requests_per_unit: 0 }")};
  std::sort(digests.begin(), digests.end());
  EXPECT_EQ(std::adjacent_find(digests.begin(), digests.end()), digests.end());
  EXPECT_EQ(descriptor(limit + ", metadata: { a: 1, b: 2 }"), descriptor(limit + ", metadata: { b: 2, a: 1 }"));
}

TEST(Digest, ChangesWithWhatADeniedCallCharges) {
  const auto digest = [](const std::string& text, std::vector<std::string> charge_all) {
    const Loaded loaded = load_text(text, "p", {.charge_all = std::move(charge_all)});
    return loaded.ruleset == nullptr ? "" : loaded.ruleset->digest;
  };
  const std::string domain =
      "domain: a\ndescriptors:\n  - { key: k, rate_limit: { unit: day, requests_per_unit: 5 } }\n";
  EXPECT_NE(digest(domain, {"a"}), digest(domain, {}));
  EXPECT_EQ(digest(domain, {"another"}), digest(domain, {}));
  EXPECT_TRUE(load_text(domain, "p", {.charge_all = {"a"}}).ruleset->domains.at(0).charges_denied);
  EXPECT_FALSE(load_text(domain, "p").ruleset->domains.at(0).charges_denied);
}

TEST(Digest, OfAPolicyStaysFromVersionToVersion) {
  std::ifstream digests(fs::path(WEIR_SOURCE_DIR) / "tests/policy/digests.txt");
  std::size_t count = 0;
  for (std::string file, digest; digests >> file >> digest; ++count) {
    const Loaded loaded = load_path(fs::path(WEIR_SOURCE_DIR) / file);
    ASSERT_NE(loaded.ruleset, nullptr) << file;
    EXPECT_EQ(loaded.ruleset->digest, digest) << file;
  }
  EXPECT_GE(count, 30U);
}

TEST(Digest, DoesNotDependOnTheOrderOfTiersRoutesAndRanges) {
  const std::string one =
      "algorithm: gcra, rate: 1/s, routes: [/a, /b], when: { ip_in: [10.0.0.0/8, 11.0.0.0/8] }, "
      "tier_overrides: { a: unlimited, b: { burst: 5 } }, cost: { /a: 1, /b: 0 }";
  const std::string other =
      "algorithm: gcra, rate: 1/s, routes: [/b, /a], when: { ip_in: [11.0.0.0/8, 10.0.0.0/8] }, "
      "tier_overrides: { b: { burst: 5 }, a: unlimited }, cost: { /b: 0, /a: 1 }";
  EXPECT_EQ(digest_of(limit(one)), digest_of(limit(other)));
}

TEST(Problems, AreAllReportedUpToABound) {
  std::string text = "version: 1\nlimits:\n";
  for (int i = 0; i < 150; ++i) text += "  - { nam: a }\n";
  const auto problems = load_text(text, "p").problems;
  ASSERT_EQ(problems.size(), Problems::max_listed + 1);
  EXPECT_EQ(problems.front().text(), "p:3:5: missing name");
  EXPECT_EQ(problems.back().message, "and 500 more errors");
}

}  // namespace
}  // namespace weir::policy
