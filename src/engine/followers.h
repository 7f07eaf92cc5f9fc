// Followers are asked after the verdict and cannot change it: shadow limits, candidates, descriptors that are charged
// unconditionally, and units that are given back.
//
// They take two steps of an evaluation: each follower is asked in a separate group, then its answer may lead to a
// correction, which settles or charges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/asked_limits.h"
#include "engine/evaluation.h"
#include "store/store.h"
#include "weir/cost.h"

namespace weir::engine {

class Followers {
 public:
  enum class Kind : std::uint8_t {
    shadow,
    shadow_descriptor,  // charged even if it denies, as a live limit is
    give_back,
    candidate,
    candidate_give_back,
    charge,  // a descriptor that is charged although it or its call is denied
  };

  Followers(Evaluation& evaluation, AskedLimits& asked) noexcept : evaluation_(evaluation), asked_(asked) {}

  void clear() noexcept { followers_.clear(); }
  // `fallback` applies if the store has answered so far but fails now. Candidates have no fallback.
  void add(std::size_t i, Kind kind, store::Operation operation, store::Fallback fallback);
  // Prepares the corrections.
  void read();
  void read_corrections();

 private:
  struct Follower {
    std::uint32_t outcome;
    Kind kind;
  };
  struct Correction {
    std::uint32_t outcome;
    Cost given;  // the units given back; zero for a candidate or a charge
  };

  // The limit, or its candidate.
  struct Target {
    const store::States& states;
    const core::Rule& rule;
  };
  [[nodiscard]] Target target_of(std::size_t i, bool is_candidate) const noexcept {
    const AskedLimit& limit = asked_.limits[i];
    return is_candidate ? Target{*limit.candidate, limit.candidate->rule} : Target{*limit.states, *limit.rule};
  }
  store::Group& new_correction(store::Operation operation, const store::Group& asked);
  void read_charge(std::size_t i, const store::Group& group) noexcept;
  void charge_shadow(std::size_t i, const store::Group& asked);
  void give_back(std::size_t i, bool is_candidate, const store::Group& looked);

  Evaluation& evaluation_;
  AskedLimits& asked_;
  std::vector<Follower> followers_;
  std::vector<Correction> corrections_;
};

}  // namespace weir::engine
