// The states of limits that simulated nodes share, in memory, bounded in number. Decides by the time that it is told.
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "store/shared/shared_decider.h"
#include "store/store.h"
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
  [[nodiscard]] const std::vector<const store::Check*>& contended_denials() const noexcept {
    return contended_denials_;
  }

  // More states counted at a time than may be kept. They were kept all the same.
  [[nodiscard]] bool has_too_many() const noexcept { return has_too_many_; }
  [[nodiscard]] std::size_t size() const noexcept { return states_.size(); }

 private:
  struct State : store::SharedState {
    std::int64_t over_at = 0;  // as good as never seen from then on
  };

  void make_room(Instant now);

  const std::size_t most_;
  bool has_too_many_ = false;
  // Ordered: keys are what strangers sent.
  std::map<std::string, State> states_;
  std::size_t sweep_at_ = std::size_t{1} << 16;
  store::SharedDecider decider_;
  std::vector<store::SharedState*> of_checks_;  // of the group that is decided
  std::vector<const store::Check*> contended_denials_;
};

}  // namespace weir::simulate
