// What follows a verdict and cannot change it: shadow limits and candidates, descriptors that are charged whatever was
// decided, and units that are given back.
//
// Two steps of an evaluation: the followers are asked, each in a group of its own; then what their answers lead to is
// settled or charged.
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
    shadow_descriptor,  // if it does not fit, its hits are charged all the same, as those of a live one are
    give_back,
    candidate,
    candidate_give_back,
    charge,  // a descriptor of a call that is denied, or one that does not fit: charged without asking
  };

  Followers(Evaluation& evaluation, AskedLimits& asked) noexcept : evaluation_(evaluation), asked_(asked) {}

  void clear() noexcept { followers_.clear(); }
  // `fallback`: what holds if the store fails now, having answered so far. It does not apply to candidates.
  void add(std::size_t i, Kind kind, store::Operation operation, store::Fallback fallback);
  // Reads the answers, and prepares the corrections.
  void read();
  void read_corrections();

 private:
  struct Follower {
    std::uint32_t outcome;
    Kind kind;
  };
  struct Correction {
    std::uint32_t outcome;
    Cost given;  // back; nothing: to a candidate, or it is a charge
  };

  // What a follower asks: the limit, or its candidate.
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
