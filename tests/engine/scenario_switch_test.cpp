// Switching fixed window -> sliding counter with a candidate first: the report names exactly the consumers whom the
// switch then denies.
#include <random>
#include <set>

#include "tests/engine/engine_fixture.h"

namespace weir::engine {
namespace {

using SwitchWithCandidate = EngineTest;

struct Arrival {
  Duration at;
  int client;
};

// Some clients keep to the limit, some send bursts around the turn of the minute.
std::vector<Arrival> traffic() {
  std::mt19937 random(7);
  std::vector<Arrival> sent;
  for (int client = 0; client < 60; ++client) {
    const bool crowds = client % 5 == 0;
    for (int minute = 0; minute < 10; ++minute) {
      for (int i = 0; i < (crowds ? 18 : 8); ++i) {
        const auto within =
            crowds ? (minute % 2 == 0 ? 50'000 + random() % 10'000 : random() % 10'000) : random() % 60'000;
        sent.push_back({std::chrono::minutes{minute} + std::chrono::milliseconds{within}, client});
      }
    }
  }
  std::ranges::stable_sort(sent, {}, &Arrival::at);
  return sent;
}

constexpr auto with_candidate =
    "{version: 1, limits: [{name: api, consumer_key: user, algorithm: fixed_window, rate: 20/min, "
    "candidate: {algorithm: sliding_window_counter}}]}";
constexpr auto switched =
    "{version: 1, limits: [{name: api, consumer_key: user, algorithm: sliding_window_counter, rate: 20/min}]}";

TEST_F(SwitchWithCandidate, DivergenceNamesExactlyTheConsumersThatTheSwitchDenies) {
  const Instant start = std::chrono::ceil<std::chrono::minutes>(now_);

  load(with_candidate);
  std::set<int> named;
  int denied_before = 0;
  for (const Arrival& sent : traffic()) {
    now_ = start + sent.at;
    const Verdict verdict = send(Request::to("GET /").by(std::to_string(sent.client)));
    denied_before += verdict.admitted ? 0 : 1;
    if (verdict.outcomes[0].divergence() == Divergence::newly_denied) named.insert(sent.client);
  }
  ASSERT_EQ(denied_before, 0) << "the live limit denies nothing";
  const auto estimate = engine_->bindings()->limits()[0].diverging->newly_denied.estimate();

  load(switched);
  std::set<int> denied;
  for (const Arrival& sent : traffic()) {
    now_ = start + sent.at;
    if (!passes(Request::to("GET /").by(std::to_string(sent.client)))) denied.insert(sent.client);
  }
  EXPECT_EQ(named, denied);
  EXPECT_EQ(named.size(), 12U) << "those who crowd";
  EXPECT_NEAR(static_cast<double>(estimate), 12, 1);
}

}  // namespace
}  // namespace weir::engine
