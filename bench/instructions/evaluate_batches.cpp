// evaluate_batches POLICY COUNT: evaluates COUNT batches of 64 queries, each covered by the policy's three
// limits, with states in memory. count.py counts its instructions.
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>

#include "engine/engine.h"
#include "policy/load.h"

namespace bench::instructions {
namespace {

using weir::engine::Query;
using weir::engine::Verdict;

constexpr std::size_t batch_size = 64;
constexpr std::size_t users = 256;

int run(const char* policy, int batches) {
  const auto loaded = weir::policy::load_path(policy);
  if (!loaded.ruleset) {
    for (const auto& problem : loaded.problems) std::fprintf(stderr, "%s\n", problem.text().c_str());
    return EXIT_FAILURE;
  }
  weir::engine::Engine::Options options;
  options.hash_key = weir::table::HashKey::random();  // deterministic under count.py, which fixes random numbers
  const auto engine = weir::engine::Engine::create(loaded.ruleset, options).value();
  const auto evaluator = engine->new_evaluator();
  const weir::Instant now{std::chrono::seconds{2'000'000'000}};

  std::array<std::string, users> names;
  for (std::size_t i = 0; i < users; ++i) names.at(i) = "user-" + std::to_string(i);
  std::array<Query, batch_size> queries;
  std::array<Verdict, batch_size> verdicts;
  std::size_t next = 0;
  std::size_t admitted = 0;
  for (int i = 0; i < batches; ++i) {
    for (Query& query : queries) {
      query.path = "/api/v1/items/42?page=3";
      query.ip = "203.0.113.7";
      query.user = names.at(next++ % users);
      query.wants_more_after = false;
    }
    evaluator->evaluate(queries, now, verdicts);
    for (const Verdict& verdict : verdicts) admitted += verdict.admitted ? 1 : 0;
  }
  return admitted == batch_size * static_cast<std::size_t>(batches) ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace bench::instructions

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: evaluate_batches POLICY COUNT\n");
    return EXIT_FAILURE;
  }
  return bench::instructions::run(argv[1], std::atoi(argv[2]));
}
