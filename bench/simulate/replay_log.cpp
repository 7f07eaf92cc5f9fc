// replay_log POLICY LOG: like `weir simulate` without the report. Prints lines, admitted, denied.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "policy/load.h"
#include "simulate/simulate.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: replay_log POLICY LOG\n");
    return EXIT_FAILURE;
  }
  const auto loaded = weir::policy::load_path(argv[1]);
  if (!loaded.ruleset) {
    for (const auto& problem : loaded.problems) std::fprintf(stderr, "%s\n", problem.text().c_str());
    return EXIT_FAILURE;
  }
  weir::simulate::SimulateOptions options;
  options.policy = loaded.ruleset;
  options.logs = {argv[2]};
  const auto report = weir::simulate::simulate(options);
  if (!report) {
    std::fprintf(stderr, "replay_log: %s\n", report.error().message().c_str());
    return EXIT_FAILURE;
  }
  std::printf("%ju %ju %ju\n", std::uintmax_t{report->log.lines}, std::uintmax_t{report->policy.admitted},
              std::uintmax_t{report->policy.denied});
  return EXIT_SUCCESS;
}
