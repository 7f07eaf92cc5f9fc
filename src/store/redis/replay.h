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
#include <vector>

#include "core/algorithm/fixed_window.h"
#include "core/algorithm/sliding_window_counter.h"
#include "core/arrival.h"
#include "store/shared/shared_decider.h"
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
//   replay.place_text(key, rule, text); ...  // false: not a state
//   replay.decide(group, keys);              // fills in its answers, and changes the states
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

  // Decides a group whose checks have these keys, in order: see SharedDecider. A log is placed as it is after a group
  // that settles or reports; `log_charges` then has what each check charged to it.
  std::uint64_t decide(Group& group, std::span<const std::uint32_t> keys,
                       std::span<const std::uint64_t> log_charges = {});

 private:
  Instant now_{};
  std::vector<SharedState> states_;
  SharedDecider decider_;
  std::vector<SharedState*> of_checks_;  // kept for its memory
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
