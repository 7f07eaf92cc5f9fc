// Divides one limit, for one consumer, among the Envoys that enforce it (docs/decisions/0016).
//
// What is not given out is the pool. A holder is one bucket of one stream; a hold is an assignment that may be in force
// there. Three invariants, of which the bound follows (burst + T / token in every stretch T, over all holders):
//
// 1. pool + the bursts of all holds <= the limit's burst. A new assignment is a new, full bucket in Envoy: its burst is
//    taken out of the pool, and does not come back when it ends.
// 2. The rates of all holders together <= the limit's rate. A holder's rate is the largest of its holds: nobody says
//    when a new one has replaced an old one.
// 3. The pool grows by the rate that is not given out, and by nothing else.
//
// A hold counts until the time that it was made with, whatever becomes of its holder. Pure: time is passed in, and time
// that goes back stands still. Not thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "weir/cost.h"
#include "weir/limit.h"
#include "weir/time.h"

namespace weir::frontend {

class QuotaAssigner {
 public:
  // Of the limit, or of this node's part of it.
  struct Numbers {
    std::uint64_t burst = 0;
    Rate rate;

    friend bool operator==(const Numbers&, const Numbers&) = default;
  };

  // A part of the limit: so much at once, and so much in every fill interval. Nothing, if one of them is zero.
  struct Share {
    std::uint64_t burst = 0;
    std::uint64_t per_fill = 0;

    [[nodiscard]] bool is_nothing() const noexcept { return burst == 0 || per_fill == 0; }
    friend bool operator==(const Share&, const Share&) = default;
  };

  using Holder = std::uint64_t;

  // What can be assigned is a whole number for each fill interval: it is so long that the limit has at least so many.
  static constexpr std::uint64_t fewest_per_fill = 100;
  // Envoy takes a slower rate than one a year for one a year.
  static constexpr std::chrono::seconds longest_fill = std::chrono::days{365};
  // Of one holder: then it is not offered another before one has ended.
  static constexpr std::size_t most_holds = 8;

  QuotaAssigner(const Numbers& numbers, Instant now);

  // What is out counts on, and nobody gets a fresh burst.
  void change(const Numbers& numbers, Instant now);
  [[nodiscard]] const Numbers& numbers() const noexcept { return numbers_; }
  // At least a second, whole seconds. It changes with the numbers only.
  [[nodiscard]] std::chrono::seconds fill_interval() const noexcept { return fill_; }

  [[nodiscard]] Holder join();
  void leave(Holder holder);
  // Its requests, admitted or not, over that time. Before it is told, the demand is not known.
  void set_demand(Holder holder, std::uint64_t requests, Cost each, Duration over);

  // What the holder is to have: max-min fair by demand. Of what nobody demands one half is divided evenly, the other is
  // left for those who come.
  [[nodiscard]] Share fair(Holder holder);
  // What it can be assigned now, at most its fair share; less where others still hold what it is to have.
  [[nodiscard]] Share offer(Holder holder, Instant now);
  // At most what was offered, at the same time.
  void assign(Holder holder, const Share& share, Instant now, Instant until);
  // The same assignment again, sent while the last one was certainly in force.
  void extend(Holder holder, Instant until);

  // The numbers were lowered, and the latest assignments are more than there is.
  [[nodiscard]] bool is_overdrawn() const noexcept { return is_overdrawn_; }
  // Nothing is out, and the pool is full.
  [[nodiscard]] bool is_as_new(Instant now);

  // For tests and figures.
  [[nodiscard]] std::uint64_t pool(Instant now);
  [[nodiscard]] std::uint64_t held_burst() const noexcept { return held_burst_; }
  [[nodiscard]] std::uint64_t held_per_fill() const noexcept { return held_per_fill_; }
  [[nodiscard]] std::uint64_t per_fill() const noexcept { return per_fill_; }

 private:
  __extension__ using Wide = __int128;

  struct Hold {
    Share share;
    Instant until;
  };
  struct Place {
    bool has_left = false;
    std::optional<std::uint64_t> wanted;  // in a fill interval; none: not known
    Share fair;
    std::vector<Hold> holds;  // the last one is the latest

    [[nodiscard]] std::uint64_t per_fill() const noexcept;
  };

  void set_numbers(const Numbers& numbers);
  void advance(Instant now);
  void fill_until(Instant now);
  void end_holds(Instant now);
  void sum_up() noexcept;
  void divide();
  [[nodiscard]] Wide fill_micros() const noexcept { return Duration(fill_).count(); }
  // What has to stay in the pool unless a rate is lowered, so that one always can be.
  [[nodiscard]] std::uint64_t reserve() const noexcept;

  Numbers numbers_;
  std::uint64_t burst_ = 0;
  std::chrono::seconds fill_{1};
  std::uint64_t per_fill_ = 0;  // of the limit
  Instant at_;
  Wide pool_ = 0;  // in units x microseconds of the fill interval: exact
  std::map<Holder, Place> places_;
  Holder next_ = 0;
  std::uint64_t held_burst_ = 0;
  std::uint64_t held_per_fill_ = 0;
  Instant next_end_ = Instant::max();  // of a hold; none ends before
  bool is_overdrawn_ = false;
  bool is_divided_ = false;
};

}  // namespace weir::frontend
