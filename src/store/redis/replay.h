// Validates the script's answers and decides them again with the core, on the states that the script read. Every number
// in an answer comes from the core; if the two disagree, the answer is not used.
//
// A foreign server may reply with anything, so parsing is strict: one notation per number, each below 2^53.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
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

// The script's summary of a log: the units used, the time of the last charge, and for some ascending costs the time at
// which the oldest entries that add up to the cost expire.
struct LogExcerpt {
  struct Point {
    std::int64_t cost;
    std::int64_t time;
  };

  std::int64_t used = 0;
  std::int64_t newest = 0;
  std::span<const Point> points;

  // True if it can describe a log: costs ascend up to `used`, times do not fall and end at `newest`.
  [[nodiscard]] bool is_sound() const noexcept;
};

// Decides the groups of a batch again, on the states that the script read.
//
//   replay.begin(now, keys);
//   replay.place_text(key, rule, text); ...  // false: not a state
//   replay.decide(group, keys);              // fills in the answers and changes the states
//
// Used on one thread, for one batch at a time. Allocates nothing once the largest has been seen, except for logs.
class Replay {
 public:
  void begin(Instant now, std::size_t keys);

  // Call before the groups. A key without any placed state was never used.
  [[nodiscard]] bool place_text(std::size_t key, const core::Rule& rule, std::string_view text);
  void place_log(std::size_t key, const LogExcerpt& log);
  // Places the totals of a key's receipts, and those that the script read. Returns false if the bytes are invalid.
  [[nodiscard]] bool place_receipts(std::size_t key, const core::Rule& rule, std::string_view bytes);
  // Places slices that the script read. Call after place_text. Returns false if the bytes are invalid.
  [[nodiscard]] bool place_slices(std::size_t key, std::string_view bytes);

  // Decides a group whose checks have these keys, in order; see SharedDecider. For a group that settles or reports, a
  // log is placed in its state after the group; `log_charges` then has what each check charged to it.
  std::uint64_t decide(Group& group, std::span<const std::uint32_t> keys,
                       std::span<const std::uint64_t> log_charges = {});

 private:
  Instant now_{};
  std::vector<SharedState> states_;
  SharedDecider decider_;
  std::vector<SharedState*> of_checks_;  // reused to avoid allocations, like the next
  std::vector<std::pair<std::uint64_t, core::Receipt>> sequences_;
};

// The script's reply, validated before any of it is used.
struct ScriptReply {
  Instant now;
  wire::resp::Reply states;                   // one per key: plain ones first, then logs
  wire::resp::Reply admitted;                 // one number per evaluation
  std::optional<wire::resp::Reply> charges;   // one number per check whose charge is returned
  std::optional<wire::resp::Reply> slices;    // pairs: the position of a key, and the bytes of one or more slices
  std::optional<wire::resp::Reply> receipts;  // pairs: the position of a key, and the bytes of its receipts
};

// The expected sizes.
struct ScriptReplySizes {
  std::size_t plain_keys = 0;
  std::size_t keys = 0;
  std::size_t evaluations = 0;
  std::size_t charges = 0;
};

// Empty if the reply does not have this form, for example if it is an error.
[[nodiscard]] std::optional<ScriptReply> parse_script_reply(const wire::resp::Reply& reply,
                                                            const ScriptReplySizes& sizes) noexcept;

// Parses a log of the reply, which must not be null. `points` provides the memory. Empty if the log is invalid.
[[nodiscard]] std::optional<LogExcerpt> parse_log(const wire::resp::Reply& reply,
                                                  std::vector<LogExcerpt::Point>& points);

}  // namespace weir::store::redis
