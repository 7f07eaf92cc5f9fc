// Leased, approximate and exact limits, and the rules for outages, in seeded simulations; and planted bugs that must be
// found. script/simulate SEED shows everything that happens in one.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "tests/sanitized.h"
#include "tests/simulation/simulation.h"

namespace weir::simulation {
namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// Guarantees

constexpr std::uint64_t shards = 8;

class Seeds : public testing::TestWithParam<std::uint64_t> {};

// WEIR_SIMULATION_SEEDS: for leased limits; half as many for approximate ones.
void expect_promises(Consistency kind, std::uint64_t shard) {
  const std::uint64_t seeds =
      number_from("WEIR_SIMULATION_SEEDS", cases(2'000)) / (kind == Consistency::approximate ? 2 : 1);
  Simulation::Sums all;
  double utilisation = 0;
  double measured = 0;
  for (std::uint64_t seed = shard; seed < seeds; seed += shards) {
    Simulation simulation(seed, kind, Mutant::none, false);
    const auto failure = simulation.run();
    EXPECT_FALSE(failure) << "seed " << seed << ": " << *failure << "script/simulate " << seed
                          << (kind == Consistency::approximate ? " approximate" : "") << " shows all of it";
    const Simulation::Sums& sums = simulation.sums();
    all.on_slices += sums.on_slices;
    all.by_store += sums.by_store;
    all.by_outage_rules += sums.by_outage_rules;
    if (sums.utilisation < 0) continue;
    utilisation += sums.utilisation;
    measured += 1;
  }
  EXPECT_GT(all.on_slices, seeds);
  EXPECT_GT(all.by_store, seeds);
  EXPECT_GT(all.by_outage_rules, 0U);
  EXPECT_GT(utilisation / measured, kind == Consistency::approximate ? 0.97 : 0.95)
      << "of what exact admits, in the middle";
}

TEST_P(Seeds, KeepWhatIsPromised) {
  expect_promises(Consistency::leased, GetParam());
}

TEST_P(Seeds, KeepWhatIsPromisedOfApproximateLimits) {
  expect_promises(Consistency::approximate, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Shard, Seeds, testing::Range<std::uint64_t>(0, shards));

// A seed always gives the same run: otherwise failures could not be investigated.
TEST(Seed, GivesTheSameRunAgain) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    Simulation first(seed, Consistency::approximate, Mutant::none, false);
    Simulation second(seed, Consistency::approximate, Mutant::none, false);
    (void)first.run();
    (void)second.run();
    EXPECT_EQ(first.sums().asked, second.sums().asked);
    EXPECT_EQ(first.sums().on_slices, second.sums().on_slices);
    EXPECT_EQ(first.sums().by_store, second.sums().by_store);
    EXPECT_EQ(first.sums().by_outage_rules, second.sums().by_outage_rules);
  }
}

// WEIR_SIMULATION_SEED: the seed to show (script/simulate).
TEST(Seed, IsShown) {
  const bool is_approximate = std::getenv("WEIR_SIMULATION_APPROXIMATE") != nullptr;
  Simulation simulation(number_from("WEIR_SIMULATION_SEED", 1),
                        is_approximate ? Consistency::approximate : Consistency::leased, Mutant::none,
                        std::getenv("WEIR_SIMULATION_SEED") != nullptr);
  const auto failure = simulation.run();
  EXPECT_FALSE(failure) << *failure;
}

// Planted bugs

class Mutants : public testing::TestWithParam<PlantedMutant> {};

// Starts from the seed that is known to find it. WEIR_SIMULATION_SEARCH: from the first, as if none were known.
TEST_P(Mutants, AreFoundWithinAThousandSeeds) {
  const auto& [mutant, name, found_by] = GetParam();
  const Consistency kind = mutant == Mutant::others_not_subtracted ? Consistency::approximate : Consistency::leased;
  const bool searches = std::getenv("WEIR_SIMULATION_SEARCH") != nullptr;
  for (std::uint64_t seed = searches ? 0 : found_by; seed < 1'000; ++seed) {
    Simulation simulation(seed, kind, mutant, false);
    const auto failure = simulation.run();
    if (!failure) continue;
    EXPECT_TRUE(searches || seed == found_by) << "found by " << seed << ": " << *failure;
    return;
  }
  FAIL() << "not found";
}

INSTANTIATE_TEST_SUITE_P(Mutant, Mutants, testing::ValuesIn(all_mutants),
                         [](const auto& mutant) { return std::string(mutant.param.name); });

}  // namespace
}  // namespace weir::simulation
