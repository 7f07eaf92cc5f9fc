// The in-memory states of the limits that simulated nodes share, bounded in number. Not thread-safe.
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
  // The approximate size of a state with its key.
  static constexpr std::size_t bytes_each = 512;

  explicit SharedStates(std::size_t max_states) noexcept : max_states_(max_states) {}

  // Decides the group. Times must not decrease, and the checks of a group must have different keys.
  void decide(store::Group& group, Instant now);

  // The checks of the last group that denied only because slices were leased.
  [[nodiscard]] const std::vector<const store::Check*>& contended_denials() const noexcept {
    return contended_denials_;
  }

  // True if max_states was ever exceeded. Nothing was dropped.
  [[nodiscard]] bool has_too_many() const noexcept { return has_too_many_; }
  [[nodiscard]] std::size_t size() const noexcept { return states_.size(); }

 private:
  struct State : store::SharedState {
    std::int64_t expires_at = 0;  // from this time on, the state is equivalent to a new one
  };

  void make_room(Instant now);

  const std::size_t max_states_;
  bool has_too_many_ = false;
  // This is not a hash table, because clients control the keys and could cause collisions.
  std::map<std::string, State> states_;
  std::size_t sweep_at_ = std::size_t{1} << 16;
  store::SharedDecider decider_;
  std::vector<store::SharedState*> of_checks_;  // states of the group being decided
  std::vector<const store::Check*> contended_denials_;
};

}  // namespace weir::simulate
