// Parses any text as a test file: it is rejected with a position in the text, or its tests and bounds run against a
// policy without violating an invariant of the engine.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "policy/load.h"
#include "policy_test/suite.h"
#include "policy_test/test_file.h"

namespace {

using namespace weir::policy_test;

constexpr std::size_t max_input_size = 64 << 10;
constexpr std::uint64_t max_requests = 1'000;  // that are sent, so that one input takes little time

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "violated: %s\n", what);
  std::abort();
}

const std::shared_ptr<const weir::policy::Ruleset>& policy() {
  static const auto loaded = weir::policy::load_text(R"(
version: 1
limits:
  - { name: login, routes: [POST /login], when: anonymous, consumer_key: ip, algorithm: sliding_window_log, rate: 3/min }
  - { name: account, routes: [POST /login], consumer_key: "header:X-Login-Name", missing: share, algorithm: sliding_window_counter, rate: 5/h }
  - { name: api, routes: [/api/**], consumer_key: [user, api_key], algorithm: token_bucket, rate: 10/min, burst: 4, tier_overrides: { pro: { rate: 20/min } } }
  - { name: slots, routes: [/slow], consumer_key: user, missing: deny, algorithm: concurrency, limit: 2 }
)",
                                                     "policy.yaml");
  return loaded.ruleset;
}

std::uint64_t requests_of(const TestFile& file) {
  std::uint64_t sum = 0;
  for (const Scenario& scenario : file.scenarios) {
    for (const Step& step : scenario.steps) sum += step.times;
  }
  return sum;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > max_input_size) return 0;
  const std::string text(data, data + size);
  const LoadedTests loaded = read_tests(text, "fuzz.test.yaml");
  require(loaded.file.has_value() == loaded.problems.empty(), "a file is rejected if and only if it has a problem");
  const auto lines = std::count(text.begin(), text.end(), '\n') + 1;
  for (const Problem& problem : loaded.problems) {
    require(problem.at.line >= 1 && problem.at.line <= lines, "a problem is in a line of the text");
    require(problem.at.column >= 1 && !problem.message.empty(), "a problem has a column and a message");
  }
  if (!loaded.file || requests_of(*loaded.file) > max_requests) return 0;
  const auto report = run_suite(*loaded.file, "policy.yaml", policy());
  require(report.has_value(), "the policy can be served");
  require(report->results.size() == loaded.file->scenarios.size() + loaded.file->bounds.size(),
          "each test has a result");
  return 0;
}
