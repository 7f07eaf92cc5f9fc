// A program that uses only what is installed.
#include <cstdio>
#include <memory>

#include <weir/weir.h>

int main() {
  using namespace std::chrono_literals;
  const auto clock = std::make_shared<weir::ManualClock>(weir::Instant{1'700'000'000s});
  const auto limit = weir::Limit::token_bucket({.rate = {.count = 1, .per = 1s}, .burst = 2});
  if (!limit) return 1;
  auto limiter = weir::KeyedLimiter::create(*limit, clock);
  if (!limiter) return 1;

  int admitted = 0;
  for (int i = 0; i < 5; ++i) admitted += limiter->check("somebody").admitted ? 1 : 0;
  std::printf("%d of 5 admitted\n", admitted);
  return admitted == 2 ? 0 : 1;
}
