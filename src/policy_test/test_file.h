// A test file of a policy: scenarios on virtual time with the expected answers, and bounds to prove.
//
//   Loaded loaded = load_tests(path);
//   for (const Problem& problem : loaded.problems) ...
//
// Values only, with the position of each expectation. docs/testing-policies.md is the reference of the language.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/calendar.h"
#include "policy/route_template.h"
#include "policy/ruleset.h"
#include "text/yaml/problem.h"
#include "weir/reason.h"
#include "weir/result.h"
#include "weir/time.h"

namespace weir::policy_test {

using text::Mark;
using text::Problem;
using text::Written;

// `policy.test.yaml` is the test file of `policy.yaml`.
inline constexpr std::string_view test_suffix = ".test.yaml";

// The start of every scenario that names no other: a Monday, the first instant of a minute, an hour, a day and a week.
inline constexpr Instant default_start = Instant{std::chrono::seconds{1'767'571'200}};  // 2026-01-05T00:00:00Z

inline constexpr std::uint64_t max_times = 1'000'000;  // repetitions of one step
inline constexpr std::size_t max_tests = 10'000;
inline constexpr std::size_t max_steps = 10'000;  // of one test

// A request as the calling program sends it; the fields have the meaning of `weir explain`. In each text, `{n}` is the
// number of the repetition.
struct RequestSpec {
  std::string method = "GET";
  std::string path = "/";
  std::string ip = "127.0.0.1";
  std::vector<std::pair<std::string, std::string>> headers;
  std::string user;
  std::string api_key;
  std::string tier;
  std::optional<std::uint64_t> cost;
  std::optional<Duration> max_wait;
};

struct HeaderExpectation {
  Mark at;
  std::string name;
  std::optional<std::string> value;  // unset: the answer must not have the field
};

// The expected result of a step. Counts, `verdict` and `denied_by` describe every repetition, the rest the last one.
struct Expectation {
  enum class Verdict : std::uint8_t { admitted, denied };

  Mark at;
  std::optional<Verdict> verdict;
  std::optional<Written<std::uint64_t>> admitted;
  std::optional<Written<std::uint64_t>> denied;
  std::optional<Written<std::string>> denied_by;
  std::optional<Written<std::string>> limit;  // the limit that the header fields describe
  std::optional<Written<Reason>> reason;
  std::optional<Written<std::uint64_t>> status;
  std::optional<Written<std::optional<Duration>>> retry_after;  // an empty value: never
  std::optional<Written<std::uint64_t>> remaining;
  std::optional<Written<Duration>> delay;
  std::optional<std::vector<Written<std::string>>> covered_by;  // all enforced limits that cover the request
  std::optional<std::vector<Written<std::string>>> would_deny;  // all shadow limits and candidates that would deny
  std::vector<HeaderExpectation> headers;
  std::optional<Written<std::string>> result;  // of settle, release and extend: `done`, `ended`

  // True if the step must be denied because of what else is expected.
  [[nodiscard]] bool implies_denial() const noexcept { return denied_by && !admitted && !denied; }
};

struct Step {
  enum class Action : std::uint8_t { request, reserve, report, settle, release, extend, store };

  Mark position;
  Action action = Action::request;
  std::optional<Duration> at;     // since the start of the scenario
  std::optional<Duration> after;  // since the previous step; the default is zero
  RequestSpec request;
  std::uint64_t times = 1;
  Duration every{};                     // between repetitions
  std::string receipt;                  // the name that `as` gives, or that settle, release and extend use
  std::optional<std::uint64_t> actual;  // of settle
  bool store_is_available = true;       // of store
  std::optional<Expectation> expect;

  [[nodiscard]] bool asks() const noexcept { return action <= Action::report; }
};

struct Scenario {
  Written<std::string> name;
  Instant start = default_start;
  std::vector<Step> steps;

  [[nodiscard]] bool uses_outage() const noexcept;
};

// The callers whose requests together stay within a bound.
struct BoundCaller {
  enum class Kind : std::uint8_t { everyone, ip, user, api_key, header, identity };
  enum class Identity : std::uint8_t { any, anonymous, authenticated };

  Kind kind = Kind::everyone;
  Identity identity = Identity::any;
  std::string name;     // of the header, in lower case, or of the named identity
  std::string address;  // a single address, for Kind::ip; empty: any one
};

struct BoundSpec {
  Mark at;
  std::string text;  // as written
  std::uint64_t at_most = 0;
  Duration per{};                              // zero: at once
  std::optional<core::CalendarUnit> calendar;  // `per month`: one window of the calendar
  policy::RouteTemplate route;                 // the requests; `/**` is every request
  BoundCaller by;
  std::optional<Written<std::string>> tier;  // unset: each tier
  std::uint64_t cost = 1;                    // of a request, where the policy sets none

  [[nodiscard]] bool is_at_once() const noexcept { return per == Duration::zero() && !calendar; }
};

struct TestFile {
  std::string path;
  std::vector<Written<std::string>> policies;  // paths, relative to the test file's folder
  std::uint64_t nodes = 2;                     // nodes that share the store, for outages
  std::vector<Scenario> scenarios;
  std::vector<BoundSpec> bounds;
};

struct LoadedTests {
  std::optional<TestFile> file;  // unset after an error
  std::vector<Problem> problems;
};

// `path` is the name in the problems, and determines the default policy.
[[nodiscard]] LoadedTests read_tests(std::string_view text, const std::string& path);
[[nodiscard]] LoadedTests load_tests(const std::filesystem::path& path);

// Parses `20 per 1min for POST /login by one ip`. The error says which part is wrong and what to write.
[[nodiscard]] Result<BoundSpec> parse_bound(std::string_view text);

// The policy that a test file tests unless it names another: `a/policy.yaml` for `a/policy.test.yaml`. Empty if the
// name does not end in test_suffix.
[[nodiscard]] std::string default_policy(const std::string& test_path);

// Returns the test file of a starter policy (policy/tools/starter.h).
[[nodiscard]] std::string starter_tests(const policy::Ruleset& ruleset, const std::string& policy_path,
                                        const std::string& test_path);

// Returns the JSON Schema (draft 2020-12) of test files, for editors.
[[nodiscard]] std::string test_schema();

}  // namespace weir::policy_test
