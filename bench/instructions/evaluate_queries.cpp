// evaluate_queries POLICY COUNT engine|evaluator: evaluates COUNT queries, one at a time, each covered by the policy's
// three limits, with states in memory, through the public API (weir/engine.h) or the evaluator below it. count.py
// counts its instructions.
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "engine/engine.h"
#include "policy/load.h"
#include "weir/clock.h"
#include "weir/engine.h"

namespace bench::instructions {
namespace {

constexpr std::size_t users = 256;
constexpr std::string_view path = "/api/v1/items/42?page=3";
constexpr std::string_view address = "203.0.113.7";
constexpr weir::Instant now{std::chrono::seconds{2'000'000'000}};

std::array<std::string, users> user_names() {
  std::array<std::string, users> names;
  for (std::size_t i = 0; i < users; ++i) names.at(i) = "user-" + std::to_string(i);
  return names;
}

template <class Judge>
bool all_pass(std::size_t count, Judge&& evaluate) {
  const auto names = user_names();
  std::size_t admitted = 0;
  for (std::size_t i = 0; i < count; ++i) admitted += evaluate(std::string_view(names.at(i % users))) ? 1U : 0U;
  return admitted == count;
}

bool by_engine(const char* file, std::size_t count) {
  const auto policy = weir::Policy::load(file).value();
  auto engine = weir::Engine::create(policy, {.clock = std::make_shared<weir::ManualClock>(now)}).value();
  return all_pass(count, [&](std::string_view user) {
    return engine.evaluate({.path = path, .ip = address, .user = user}).admitted;
  });
}

bool by_evaluator(const char* file, std::size_t count) {
  weir::engine::Engine::Options options;
  options.hash_key = weir::table::HashKey::random();  // deterministic under count.py, which fixes random numbers
  const auto engine = weir::engine::Engine::create(weir::policy::load_path(file).ruleset, options).value();
  const auto evaluator = engine->new_evaluator();
  const weir::ManualClock clock(now);
  return all_pass(count, [&](std::string_view user) {
    const weir::engine::Query query{.path = path, .ip = address, .user = user, .wants_more_after = true};
    return evaluator->evaluate(query, clock.now()).admitted;
  });
}

}  // namespace
}  // namespace bench::instructions

int main(int argc, char** argv) {
  const std::string_view way = argc == 4 ? argv[3] : "";
  if (way != "engine" && way != "evaluator") {
    std::fprintf(stderr, "usage: evaluate_queries POLICY COUNT engine|evaluator\n");
    return EXIT_FAILURE;
  }
  const auto count = static_cast<std::size_t>(std::atoi(argv[2]));
  const bool all = way == "engine" ? bench::instructions::by_engine(argv[1], count)
                                   : bench::instructions::by_evaluator(argv[1], count);
  return all ? EXIT_SUCCESS : EXIT_FAILURE;
}
