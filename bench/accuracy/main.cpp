// Measures how far each algorithm is from the exact sliding window. --quick uses short traffic.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "accuracy/run.h"
#include "accuracy/scenarios.h"

namespace bench::accuracy {
namespace {

// The bounds for the sliding window counter, which should be nearly exact.
struct Worst {
  double over = 0;  // without an attack
  double under = 0;
  std::size_t stretch = 0;  // with or without
};

double percent_of_limit(std::size_t count) {
  return 100.0 * static_cast<double>(count) / static_cast<double>(promise.limit);
}

void print_head() {
  std::printf(
      "100 per minute. Over and under: admitted more and less than the exact log in the same minute, in percent\n"
      "of what the log admitted. Worst: the most admitted in any stretch of one minute, in percent of the limit.\n\n"
      "  %-24s %10s %10s %10s %10s\n",
      "", "admitted", "over", "under", "worst");
}

void print_row(const NamedLimit& named, const Admitted& admitted, Deviation from_exact) {
  std::printf("  %-24s %10zu %8.2f %% %8.2f %% %8.0f %%\n", std::string(named.name).c_str(), admitted.total,
              100 * from_exact.over, 100 * from_exact.under, percent_of_limit(admitted.worst_stretch));
}

void compare(const NamedTraffic& offered, Worst& worst) {
  std::printf("%s (%zu requests)\n", std::string(offered.name).c_str(), offered.arrivals.size());
  const std::vector<NamedLimit> all = limits();
  const Admitted exact = run(all.front().limit, promise.window, offered.arrivals);
  for (const NamedLimit& named : all) {
    const Admitted admitted = run(named.limit, promise.window, offered.arrivals);
    const Deviation from_exact = deviation(admitted, exact);
    print_row(named, admitted, from_exact);
    if (named.limit.algorithm() != weir::Algorithm::sliding_window_counter) continue;
    worst.stretch = std::max(worst.stretch, admitted.worst_stretch);
    if (offered.attack) continue;
    worst.over = std::max(worst.over, from_exact.over);
    worst.under = std::max(worst.under, from_exact.under);
  }
}

void compare_all(int minutes) {
  print_head();
  Worst worst;
  for (const NamedTraffic& offered : traffics(minutes * promise.window)) compare(offered, worst);
  std::printf(
      "\naccuracy: without an attack the sliding window counter is at most %.2f %% over and %.2f %% under the log; "
      "under attack, %.0f %% of the limit in one window\n",
      100 * worst.over, 100 * worst.under, percent_of_limit(worst.stretch));
}

}  // namespace
}  // namespace bench::accuracy

int main(int argc, char** argv) {
  const bool quick = argc == 2 && std::string_view(argv[1]) == "--quick";
  bench::accuracy::compare_all(quick ? 100 : 10'000);
}
