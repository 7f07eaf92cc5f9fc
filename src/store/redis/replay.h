// The asks of a batch, decided again by the core on the states that the script read.
//
//   replay.begin(now, keys);
//   replay.place_text(key, rule, text); ...     // false: not a state
//   replay.decide(ask, numbers, ...);           // fills in its answers, and moves the states on
//
// Used on one thread, for one batch after the other. Allocates nothing once the largest has been seen, but for logs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "store/shared/shared_store.h"

namespace weir::store::redis {

// What the script tells of a log: what is used, when it was last charged, and for some costs, ascending, when the
// oldest entries that come to it together are over.
struct LogExcerpt {
  struct Point {
    std::int64_t cost;
    std::int64_t time;
  };

  std::int64_t used = 0;
  std::int64_t newest = 0;
  std::span<const Point> points;

  // Whether it can be one of a log: costs ascend up to what is used, times do not fall and end at the newest.
  [[nodiscard]] bool is_sound() const noexcept;
};

class Replay {
 public:
  void begin(Instant now, std::size_t keys);

  // Before the asks. A key for which neither is called was never used.
  [[nodiscard]] bool place_text(std::size_t key, const core::Rule& rule, std::string_view text) noexcept;
  void place_log(std::size_t key, const LogExcerpt& log);

  // Each fills in the answers and `admitted` of an ask whose checks have these keys, in order.
  void decide(SharedAsk& ask, std::span<const std::uint32_t> keys);
  // The same one check after the other, where a key occurs twice or nothing is to be charged.
  void decide_in_steps(SharedAsk& ask, std::span<const std::uint32_t> keys);
  // A log is placed as it is afterwards: there is nothing to settle.
  void settle(SharedAsk& ask, std::uint32_t key);
  void forget(SharedAsk& ask, std::span<const std::uint32_t> keys);

  // What of it still fits is charged. Says how much.
  std::uint64_t charge_back(const SharedCheck& check, std::uint32_t key) noexcept;

 private:
  // A key has a state of one algorithm. Which, its rules say.
  using States = std::tuple<core::ArrivalState, core::FixedWindow::State, core::SlidingWindowCounter::State,
                            core::SlidingWindowLog::State>;

  template <class A>
  [[nodiscard]] typename A::State& state(std::uint32_t key) noexcept {
    return std::get<typename A::State>(states_[key]);
  }

  [[nodiscard]] Decision peek(const SharedCheck& check, std::uint32_t key, Cost cost) noexcept;
  [[nodiscard]] Decision charge(const SharedCheck& check, std::uint32_t key) noexcept;
  void tell_when_more(const SharedCheck& check, std::uint32_t key, SharedAnswer& answer) noexcept;
  void bring_within_reach(const SharedCheck& check, std::uint32_t key) noexcept;
  void leave_uncharged(SharedAsk& ask, std::span<const std::uint32_t> keys) noexcept;
  void tell_when_more(SharedAsk& ask, std::span<const std::uint32_t> keys) noexcept;

  Instant now_{};
  std::vector<States> states_;
  std::vector<States> saved_;
};

}  // namespace weir::store::redis
