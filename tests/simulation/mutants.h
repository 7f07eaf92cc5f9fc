// Mistakes that were made, or nearly, planted around the code that makes them not: in the simulated store and on the
// way to and from it. The simulation has to find each.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace weir::simulation {

enum class Mutant : std::uint8_t {
  none,
  charged_ahead,        // a slice is charged when it is granted, and what comes back is refunded
  returned_twice,       // what is given back is also refunded
  time_from_answer,     // a slice's time is counted from its answer
  total_taken_unspent,  // what was spent while a renewal was in flight is not taken off its total
  lapsed_after,         // slices that lapsed end behind the decision
};

struct MutantName {
  Mutant mutant;
  std::string_view name;
};
inline constexpr std::array all_mutants{
    MutantName{Mutant::charged_ahead, "charged_ahead"},
    MutantName{Mutant::returned_twice, "returned_twice"},
    MutantName{Mutant::time_from_answer, "time_from_answer"},
    MutantName{Mutant::total_taken_unspent, "total_taken_unspent"},
    MutantName{Mutant::lapsed_after, "lapsed_after"},
};

}  // namespace weir::simulation
