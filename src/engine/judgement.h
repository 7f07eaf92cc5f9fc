// One query's limits judged together, all or nothing, with what follows from it: graduated responses, shadow limits
// and candidates. Nothing that a shadow limit or a candidate does can change a live decision: their states are their
// own, and they are asked when the verdict is final.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/conclusion.h"
#include "engine/coverage.h"
#include "engine/plan.h"
#include "engine/verdict.h"
#include "table/together.h"
#include "weir/time.h"

namespace weir::engine {

// Filled in place, whatever was in it: it is large.
void begin_outcome(const Plan& plan, const Covered& covered, Outcome& outcome) noexcept;

class Judgement {
 public:
  // Space to work in, kept from one query to the next: to clear it for each would cost more than to judge.
  struct Room {
    std::array<table::Check, table::most_together> checks;
    std::array<Decision, table::most_together> decisions;
    std::array<std::uint32_t, table::most_together> of_check;  // which outcome a check belongs to
  };

  // `outcomes` has the length of the coverage's list, and is filled in its order, whatever was in it.
  Judgement(const Plan& plan, const Coverage& coverage, bool peek, Instant now, std::span<Outcome> outcomes,
            Room& room) noexcept
      : plan_(plan),
        coverage_(coverage),
        peek_(peek),
        now_(now),
        outcomes_(outcomes),
        checks_(room.checks),
        decisions_(room.decisions),
        of_check_(room.of_check) {}

  [[nodiscard]] Verdict pass() noexcept;

 private:
  [[nodiscard]] bool is_live(std::size_t i) const noexcept;
  [[nodiscard]] const PlannedLimit& limit_of(std::size_t i) const noexcept {
    return plan_.limits()[coverage_.covered[i].limit];
  }
  [[nodiscard]] table::Ask ask_once(std::size_t i) const noexcept;

  [[nodiscard]] LiveOutcomes live_outcomes() const noexcept { return {outcomes_, of_check_.first(live_)}; }

  void gather() noexcept;
  void find_blocks() noexcept;
  void judge_live() noexcept;
  [[nodiscard]] bool admit_with_warning() noexcept;
  void count_toward_penalties() noexcept;
  void judge_candidates() noexcept;
  void judge_shadows(bool admits) noexcept;

  const Plan& plan_;
  const Coverage& coverage_;
  const bool peek_;
  const Instant now_;
  const std::span<Outcome> outcomes_;

  // Of the room, the first live_ of each.
  const std::span<table::Check> checks_;
  const std::span<Decision> decisions_;
  const std::span<std::uint32_t> of_check_;
  std::size_t live_ = 0;
  Deniers deniers_;
  bool too_many_ = false;
  bool blocked_ = false;
  Reason reason_ = Reason::uncovered;
};

}  // namespace weir::engine
