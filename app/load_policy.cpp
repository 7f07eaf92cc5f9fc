#include "app/load_policy.h"

#include <cstdio>

#include <fmt/core.h>

#include "app/exit_code.h"
#include "app/problem_report.h"
#include "app/terminal.h"
#include "policy/load.h"

namespace weir::app {

std::shared_ptr<const policy::Ruleset> load_policy(const std::string& path, policy::LoadOptions load) {
  policy::Loaded loaded = policy::load_path(path, load);
  if (loaded.ruleset) return loaded.ruleset;
  const Paint paint(stderr);
  for (const policy::Problem& problem : loaded.problems) {
    if (problem.severity == policy::Severity::error) fmt::print(stderr, "{}", problem_line(problem, paint));
  }
  return nullptr;
}

int give_up(const std::string& why) {
  fmt::print(stderr, "weir: {}\n", printable(why));
  return failed;
}

}  // namespace weir::app
