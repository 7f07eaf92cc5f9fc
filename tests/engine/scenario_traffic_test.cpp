// Realistic traffic: a fleet that wakes up at once, and an attack on a window boundary.
#include <algorithm>
#include <map>

#include "tests/engine/engine_fixture.h"

namespace weir::engine {
namespace {

using MobileFleet = EngineTest;

// 5,000 phones wake up at 08:00 and retry every second until they are let in.
TEST_F(MobileFleet, BurstIsAdmittedAndThenTheSustainedRate) {
  load(R"(
version: 1
limits:
  - { name: sync, routes: [POST /sync], consumer_key: global, algorithm: token_bucket, rate: 100/s, burst: 1000 }
)");
  const Request sync = Request::to("POST /sync");
  EXPECT_EQ(passing(sync, 5000), 1000);
  int waiting = 4000;
  for (int second = 1; waiting > 0; ++second) {
    advance(1s);
    const int admitted = passing(sync, waiting);
    EXPECT_EQ(admitted, 100) << "in second " << second;
    waiting -= admitted;
  }
  EXPECT_EQ(now_, Instant(std::chrono::sys_days{std::chrono::year{2026} / 1 / 5} + 12h) + 40s);
  advance(5s);
  EXPECT_EQ(passing(sync, 5000), 500) << "what refilled while it was quiet";
}

// All requests of a window arrive at its end, and all of the next one at its start.
struct Boundary {
  const char* algorithm;
  int around;  // within 2 s around the boundary
  int worst;   // within the worst full window
};

class BoundaryAttack : public EngineTest, public testing::WithParamInterface<Boundary> {};

TEST_P(BoundaryAttack, PassesWhatTheAlgorithmAllows) {
  const Boundary& expected = GetParam();
  load("{version: 1, limits: [{name: a, consumer_key: ip, rate: 100/min, algorithm: " +
       std::string(expected.algorithm) + "}]}");
  const Instant boundary = std::chrono::ceil<std::chrono::minutes>(now_) + 2min;
  std::vector<Instant> admitted;
  const auto attack = [&](Instant from, Duration length) {
    for (Duration at = 0s; at < length; at += 2ms) {
      now_ = from + at;
      if (passes(Request::to("GET /"))) admitted.push_back(now_);
    }
  };
  attack(boundary - 1s, 2s);
  const auto around = static_cast<int>(admitted.size());
  attack(boundary + 1s, 60s);  // continues as fast as possible
  int worst = 0;
  for (std::size_t i = 0, j = 0; j < admitted.size(); ++j) {
    while (admitted[j] - admitted[i] >= 1min) ++i;
    worst = std::max(worst, static_cast<int>(j - i + 1));
  }
  EXPECT_EQ(around, expected.around);
  EXPECT_EQ(worst, expected.worst);
}

// Buckets admit their burst and what refills; the leaky bucket has room for one, so it admits only the rate.
INSTANTIATE_TEST_SUITE_P(Each, BoundaryAttack,
                         testing::Values(Boundary{"fixed_window", 200, 200},
                                         Boundary{"sliding_window_counter", 101, 198},
                                         Boundary{"sliding_window_log", 100, 100}, Boundary{"token_bucket", 103, 199},
                                         Boundary{"gcra", 103, 199}, Boundary{"leaky_bucket", 4, 100}),
                         [](const auto& each) { return std::string(each.param.algorithm); });

using RawPathKey = EngineTest;

// With a counter for each path no client is ever limited, and the number of counters grows with the number of paths.
TEST_F(RawPathKey, DistinctEstimateCrossesAnyThreshold) {
  load(R"(
version: 1
limits:
  - { name: by-path, consumer_key: "header:X-Original-URI", algorithm: gcra, rate: 5/min }
  - { name: by-template, routes: ["/items/{id}"], consumer_key: route, algorithm: gcra, rate: 100000/min }
)");
  for (int i = 0; i < 20'000; ++i) {
    const std::string path = "/items/" + std::to_string(i);
    EXPECT_TRUE(passes(Request::to("GET " + path).with("X-Original-URI", path)));
  }
  const auto bindings = engine_->bindings();
  EXPECT_GT(bindings->limits()[0].consumers->estimate(now_), 18'000U);
  EXPECT_EQ(bindings->limits()[1].consumers->estimate(now_), 1U);
}

TEST_F(RawPathKey, LintWarns) {
  const auto loaded = policy::load_text(
      "version: 1\nlimits:\n  - { name: a, consumer_key: \"header:X-Original-URI\", algorithm: gcra, rate: 5/min }\n",
      "policy.yaml");
  EXPECT_TRUE(std::ranges::any_of(loaded.problems, [](const text::Problem& problem) {
    return problem.severity == text::Severity::warning && problem.message.find("route") != std::string::npos;
  }));
}

}  // namespace
}  // namespace weir::engine
