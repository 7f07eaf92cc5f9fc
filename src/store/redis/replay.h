// What the script answers, checked and decided again by the core on the states that the script read: every number of an
// answer comes from the core, and where the two do not agree the answer is not used.
//
// A server that is not ours may say anything, so reading is strict: one way to write each number, each below 2^53.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/algorithm/fixed_window.h"
#include "core/algorithm/sliding_window_counter.h"
#include "core/arrival.h"
#include "store/store.h"
#include "weir/time.h"
#include "wire/resp/reply_parser.h"

namespace weir::store::redis {

[[nodiscard]] bool read_state(std::string_view text, const core::ArrivalLimit& limit, Instant now,
                              core::ArrivalState& state) noexcept;
[[nodiscard]] bool read_state(std::string_view text, const core::FixedWindow::Limit& limit, Instant now,
                              core::FixedWindow::State& state) noexcept;
[[nodiscard]] bool read_state(std::string_view text, const core::WindowLimit& limit, Instant now,
                              core::SlidingWindowCounter::State& state) noexcept;

// The groups of a batch, decided again by the core on the states that the script read.
//
//   replay.begin(now, keys);
//   replay.place_text(key, rule, text); ...     // false: not a state
//   replay.decide(group, numbers, ...);           // fills in its answers, and moves the states on
//
// Used on one thread, for one batch after the other. Allocates nothing once the largest has been seen, but for logs.

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

  // Before the groups. A key for which neither is called was never used.
  [[nodiscard]] bool place_text(std::size_t key, const core::Rule& rule, std::string_view text);
  void place_log(std::size_t key, const LogExcerpt& log);
  // Those of a log. False: they are none.
  [[nodiscard]] bool place_receipts(std::size_t key, std::string_view text);
  // Of a key that is only forgotten, by whatever rule: the slices that are out. What is not a state has none.
  void place_slices(std::size_t key, std::string_view text);

  // Each fills in the answers and `admitted` of a group whose checks have these keys, in order.
  void decide(Group& group, std::span<const std::uint32_t> keys);
  // The same one check after the other, where a key occurs twice or nothing is to be charged.
  void decide_in_steps(Group& group, std::span<const std::uint32_t> keys);
  // A log is placed as it is afterwards: there is nothing to settle.
  void settle(Group& group, std::uint32_t key);
  void forget(Group& group, std::span<const std::uint32_t> keys);

  // A group with receipts: one more than were opened, or 0 where it denies.
  std::uint64_t reserve(Group& group, std::span<const std::uint32_t> keys);
  // Settles, extends or reports: for how many checks something was done. A log is placed as it is afterwards; `charges`
  // has what each check charged to it. Where that cannot be, a number that no script answers.
  std::uint64_t correct(Group& group, std::span<const std::uint32_t> keys, std::span<const std::uint64_t> charges);

  // A message: whether it was taken, and then the units of the slice.
  bool report(SliceExchange& exchange, const core::Rule& rule, std::uint32_t key);
  std::uint64_t grant(SliceExchange& exchange, const core::Rule& rule, std::uint32_t key);

  // What of it still fits is charged. Says how much.
  std::uint64_t charge_back(const store::Check& check, std::uint32_t key);

 private:
  // A key has a state of one algorithm. Which, its rules say.
  using State = std::tuple<core::ArrivalState, core::FixedWindow::State, core::SlidingWindowCounter::State,
                           core::SlidingWindowLog::State, core::Concurrency::State>;
  struct States {
    State state;
    core::Ledger ledger;
    core::Receipts receipts;
  };

  template <class A>
  [[nodiscard]] typename A::State& state(std::uint32_t key) noexcept {
    return std::get<typename A::State>(states_[key].state);
  }
  [[nodiscard]] core::Ledger& ledger(std::uint32_t key) noexcept { return states_[key].ledger; }
  [[nodiscard]] bool has_slices(std::uint32_t key) const noexcept { return !states_[key].ledger.slices.empty(); }
  [[nodiscard]] core::Receipts& receipts(std::uint32_t key) noexcept { return states_[key].receipts; }
  void save_states(std::span<const std::uint32_t> keys);
  void restore_states(std::span<const std::uint32_t> keys) noexcept;
  // Whether something was done. None: the check cannot have charged so much.
  std::optional<bool> correct(const Group& group, const store::Check& check, std::uint32_t key, std::uint64_t charged);
  void lapse(const core::Rule& rule, std::uint32_t key);
  void add_holdings(const store::Check& check, std::uint32_t key);
  void add_forgotten(const store::Check& check, std::uint32_t key);
  void lapse(const Group& group, std::span<const std::uint32_t> keys);

  [[nodiscard]] Decision peek(const store::Check& check, std::uint32_t key, Cost cost);
  [[nodiscard]] Decision charge(const store::Check& check, std::uint32_t key);
  [[nodiscard]] Decision hold(const store::Check& check, std::span<const std::uint32_t> keys, std::size_t i, Cost cost);
  void tell_when_more(store::Check& check, std::uint32_t key);
  void bring_within_reach(const store::Check& check, std::uint32_t key) noexcept;
  void leave_uncharged(Group& group, std::span<const std::uint32_t> keys);
  void tell_when_more(Group& group, std::span<const std::uint32_t> keys);

  Instant now_{};
  std::vector<States> states_;
  std::vector<State> saved_;
  // Of each check of a group that reserves: whether its receipt was open before, and where its charge lies.
  struct Mark {
    bool was_open = false;
    core::ChargePlace charged;
    std::uint64_t units = 0;  // that it holds
  };
  std::vector<Mark> marks_;
};

// The script's reply, checked before any of it is used: a server that is not ours may say anything.

struct ScriptReply {
  Instant now;
  wire::resp::Reply states;                  // one for each key: plain ones first, then logs
  wire::resp::Reply admitted;                // a number for each evaluation
  std::optional<wire::resp::Reply> charges;  // a number for each check that is to say what it charged
};

// How much of everything there has to be.
struct ScriptReplySizes {
  std::size_t plain_keys = 0;
  std::size_t keys = 0;
  std::size_t evaluations = 0;
  std::size_t charges = 0;
};

// Nothing if it is not of this form. An error of the server is not.
[[nodiscard]] std::optional<ScriptReply> parse_script_reply(const wire::resp::Reply& reply,
                                                            const ScriptReplySizes& sizes) noexcept;

// A log of the reply, not null. `points` is room for it. Nothing if it is not sound.
[[nodiscard]] std::optional<LogExcerpt> parse_log(const wire::resp::Reply& reply,
                                                  std::vector<LogExcerpt::Point>& points);

}  // namespace weir::store::redis
