// A program that uses only the installed policy engine.
#include <cstdio>
#include <memory>

#include <weir/engine.h>

int main() {
  using namespace std::chrono_literals;
  const auto policy = weir::Policy::parse(R"(
version: 1
limits:
  - name: monthly
    consumer_key: user
    algorithm: fixed_window
    limit: 2
    window: { calendar: month, timezone: Europe/Berlin }
)");
  if (!policy) {
    std::puts(policy.error().message().c_str());
    return 1;
  }
  const auto clock = std::make_shared<weir::ManualClock>(weir::Instant{1'700'000'000s});
  auto engine = weir::Engine::create(*policy, {.clock = clock});
  if (!engine) return 1;
  int admitted = 0;
  for (int i = 0; i < 5; ++i) admitted += engine->evaluate({.user = "somebody"}) ? 1 : 0;
  std::printf("%d of 5 admitted\n", admitted);
  const weir::Verdict denied = engine->evaluate({.user = "somebody"});
  return admitted == 2 && denied.status() == 429 && denied.fields().size() == 6 && !denied.problem().empty() ? 0 : 1;
}
