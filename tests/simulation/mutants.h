// Bugs that were made, or nearly, planted around the correct code: in the simulated store and on the way to and from
// it. The simulation must find each.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace weir::simulation {

enum class Mutant : std::uint8_t {
  none,
  charged_ahead,         // a slice is charged when it is granted, and returned units are refunded
  returned_twice,        // returned units are also refunded
  time_from_answer,      // a slice's time is counted from its answer
  total_taken_unspent,   // units spent while a renewal was in flight are not deducted from its total
  expired_after,         // expired slices are charged after the decision
  used_counted_twice,    // what a message reported is charged again with the next one if its answer was lost
  walk_without_totals,   // expired slices are charged, but stay in the totals
  record_without_value,  // slices outlive the value that counts them
  // For approximate limits.
  others_not_subtracted,  // a slice is a share of what is left, regardless of other holders
};

struct PlantedMutant {
  Mutant mutant;
  std::string_view name;
  std::uint64_t found_by;  // the first seed that finds it
};
inline constexpr std::array all_mutants{
    PlantedMutant{Mutant::charged_ahead, "charged_ahead", 7},
    PlantedMutant{Mutant::returned_twice, "returned_twice", 3},
    PlantedMutant{Mutant::time_from_answer, "time_from_answer", 927},
    PlantedMutant{Mutant::total_taken_unspent, "total_taken_unspent", 7},
    PlantedMutant{Mutant::expired_after, "expired_after", 760},
    PlantedMutant{Mutant::used_counted_twice, "used_counted_twice", 9},
    PlantedMutant{Mutant::walk_without_totals, "walk_without_totals", 1},
    PlantedMutant{Mutant::record_without_value, "record_without_value", 1},
    PlantedMutant{Mutant::others_not_subtracted, "others_not_subtracted", 1},
};

}  // namespace weir::simulation
