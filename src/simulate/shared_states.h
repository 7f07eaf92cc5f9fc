// The states of limits that simulated nodes share, with the slices of them that are out (core/ledger.h): what a shared
// store keeps, and how it decides. In memory, by the time that it is told. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/ledger.h"
#include "core/rule.h"
#include "store/store.h"
#include "weir/cost.h"
#include "weir/decision.h"
#include "weir/time.h"

namespace weir::simulate {

class SharedStates {
 public:
  // About what a state takes, with its key.
  static constexpr std::size_t bytes_each = 512;

  explicit SharedStates(std::size_t most) noexcept : most_(most) {}

  // Fills in the answer. Times do not run backwards; the checks of a group have different keys.
  void decide(store::Group& group, Instant now);

  // Of the last group that was decided, the checks that denied and would not have, had no slices been out.
  [[nodiscard]] const std::vector<const store::Check*>& denied_by_held() const noexcept { return denied_by_held_; }

  // More states counted at a time than may be kept. They were kept all the same.
  [[nodiscard]] bool has_too_many() const noexcept { return has_too_many_; }
  [[nodiscard]] std::size_t size() const noexcept { return states_.size(); }

 private:
  // A key has states of one algorithm; which, its rules say.
  using Numbers = std::variant<core::ArrivalState, core::FixedWindow::State, core::SlidingWindowCounter::State,
                               core::SlidingWindowLog::State, core::Concurrency::State>;
  struct State {
    Numbers numbers;
    core::Ledger ledger;
    std::int64_t over_at = 0;  // as good as never seen from then on
  };
  // A check with its state.
  struct Part {
    store::Check& check;
    State& state;
  };

  template <class A>
  [[nodiscard]] static typename A::State& numbers_of(State& state);
  static void lapse(Part part, Instant now);
  static void report(Part part, Instant now);
  static void grant(Part part, Instant now);
  enum class Held : std::uint8_t { counted, ignored };
  [[nodiscard]] static Decision peek(Part part, Cost cost, Instant now, Held held = Held::counted);
  [[nodiscard]] static Decision charge(Part part, Instant now);
  static void bring_within_reach(Part part, Instant now);
  static void settle(Part part, const core::Settlement& settlement, Instant now);
  static void note_end(Part part);

  void find_parts(store::Group& group);
  void decide_all(store::Group& group, Instant now);
  void look(store::Group& group, Instant now);
  void make_room(Instant now);

  const std::size_t most_;
  bool has_too_many_ = false;
  // Ordered: keys are what strangers sent.
  std::map<std::string, State> states_;
  std::size_t sweep_at_ = std::size_t{1} << 16;
  std::vector<Part> parts_;  // of the group that is decided
  std::vector<const store::Check*> denied_by_held_;
};

}  // namespace weir::simulate
