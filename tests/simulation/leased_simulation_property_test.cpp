// Leased and exact limits, and the rules for outages, in thousands of worlds that seeds give.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/simulation/simulation.h"

namespace weir::simulation {
namespace {

// WEIR_SIMULATION_SEEDS: how many, if not 500. WEIR_SIMULATION_SEED: only that one, with everything that happens.
std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

constexpr std::uint64_t shards = 8;

class Seeds : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Seeds, HoldWhatIsPromised) {
  if (const char* const only = std::getenv("WEIR_SIMULATION_SEED")) {
    Simulation simulation(std::strtoull(only, nullptr, 10), Mutant::none, true);
    const auto failure = simulation.run();
    EXPECT_FALSE(failure) << *failure;
    return;
  }
  const std::uint64_t seeds = number_from("WEIR_SIMULATION_SEEDS", 500);
  Simulation::Sums all;
  for (std::uint64_t seed = GetParam(); seed < seeds; seed += shards) {
    Simulation simulation(seed, Mutant::none, false);
    const auto failure = simulation.run();
    EXPECT_FALSE(failure) << "seed " << seed << ": " << *failure << "script/simulate " << seed << " shows all of it";
    all.on_slices += simulation.sums().on_slices;
    if (getenv("VERBOSE")) std::cout << seed << " asked " << simulation.sums().asked << " slices " << simulation.sums().on_slices << " store " << simulation.sums().by_store << " outage " << simulation.sums().by_outage_rules << " util " << simulation.sums().utilisation << " " << simulation.describe() << "\n";
  }
  EXPECT_GT(all.on_slices, 0U);
}

TEST(Mutants, Search) {
  for (const auto& [mutant, name] : all_mutants) {
    int found = 0;
    std::cout << name << ":";
    for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
      Simulation simulation(seed, mutant, false);
      if (const auto failure = simulation.run()) {
        if (++found <= 8) std::cout << " " << seed << " [" << failure->substr(0, failure->find('\n')) << "]\n";
      }
    }
    std::cout << " in all " << found << std::endl;
  }
}

INSTANTIATE_TEST_SUITE_P(Shard, Seeds, testing::Range<std::uint64_t>(0, shards));

}  // namespace
}  // namespace weir::simulation
