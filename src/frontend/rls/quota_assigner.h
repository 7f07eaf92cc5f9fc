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
//
// What a call costs does not grow with the number of holders, but for a logarithm:
//
// 4. Sums are running sums. A call visits the holder that it is about, at most `max_ends` holders whose holds have
//    ended, and for each of them O(log n) nodes of an ordered set.
// 5. If more holds have ended than that, time stands at the last end until the next call goes on: meanwhile what has
//    ended still counts, and the pool does not grow.
// 6. change() is the exception. It visits every holder once if the fill interval changes; its callers see to it that
//    this is rare.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "frontend/rls/quota_demands.h"
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
  static constexpr std::chrono::seconds max_fill = std::chrono::days{365};
  // Of one holder: then it is not offered another before one has ended.
  static constexpr std::size_t max_holds = 8;
  // Holders whose holds are ended by one call.
  static constexpr std::size_t max_ends = 256;

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
  [[nodiscard]] bool is_overdrawn() const noexcept {
    return held_.latest_burst > burst_ || held_.latest_per_fill > per_fill_;
  }
  // Nothing is out, and the pool is full.
  [[nodiscard]] bool is_as_new(Instant now);
  // Those who have left count for as long as something of theirs is out.
  [[nodiscard]] std::size_t holders() const noexcept { return places_.size(); }

  // For tests and figures.
  [[nodiscard]] std::uint64_t pool(Instant now);
  [[nodiscard]] std::uint64_t held_burst() const noexcept { return held_.burst; }
  [[nodiscard]] std::uint64_t held_per_fill() const noexcept { return held_.per_fill; }
  [[nodiscard]] std::uint64_t per_fill() const noexcept { return per_fill_; }
  // Holders, and nodes of demands, that all calls so far have visited.
  [[nodiscard]] std::uint64_t visited() const noexcept { return visited_ + known_.visited() + unknown_.visited(); }

 private:
  __extension__ using Wide = __int128;

  struct Hold {
    Share share;
    Instant until;
  };
  struct Place {
    bool has_left = false;
    std::optional<std::uint64_t> wanted;  // in a fill interval; none: not known
    std::vector<Hold> holds;              // the last one is the latest

    [[nodiscard]] std::uint64_t per_fill() const noexcept;
    [[nodiscard]] Instant next_end() const noexcept;
  };
  // Sums over holders.
  struct Held {
    std::uint64_t burst = 0;
    std::uint64_t per_fill = 0;
    std::uint64_t latest_burst = 0;  // of the latest holds of those who have not left, as is the next
    std::uint64_t latest_per_fill = 0;
  };
  // Demands up to `level` are met. The others have that, and those from `one_more_from` on, in the order of demands,
  // one more: so everything is given out.
  struct Division {
    std::uint64_t unknown = 0;  // what counts as the demand of a holder that has not told
    std::uint64_t level = 0;
    std::uint64_t one_more_from = 0;
    std::uint64_t beyond_demand = 0;  // for everyone
  };

  void set_numbers(const Numbers& numbers);
  void advance(Instant now, std::size_t max_visits = max_ends);
  void fill_until(Instant now);
  void end_holds(Holder holder, Instant now);
  [[nodiscard]] static Held held_by(const Place& place) noexcept;
  void count_in(Holder holder, const Place& place);
  void count_out(Holder holder, const Place& place);
  [[nodiscard]] Place& visit(Holder holder);
  void forget_demand(Holder holder, const Place& place);
  void divide() noexcept;
  // Of those who have not left, in the order of demands.
  [[nodiscard]] std::uint64_t rank(Holder holder, const Place& place) const noexcept;
  [[nodiscard]] Wide fill_micros() const noexcept { return Duration(fill_).count(); }
  // What has to stay in the pool unless a rate is lowered, so that one always can be.
  [[nodiscard]] std::uint64_t reserve() const noexcept;

  Numbers numbers_;
  std::uint64_t burst_ = 0;
  std::chrono::seconds fill_{1};
  std::uint64_t per_fill_ = 0;  // of the limit
  Instant at_;
  Wide pool_ = 0;  // in units x microseconds of the fill interval: exact
  std::unordered_map<Holder, Place> places_;
  Holder next_ = 0;
  // Those who have not left are in one of them.
  QuotaDemands known_;
  QuotaDemands unknown_;                       // of zero units
  std::set<std::pair<Instant, Holder>> ends_;  // the next one of each holder that has holds
  Held held_;
  Division division_;
  bool is_divided_ = false;
  std::uint64_t visited_ = 0;
};

}  // namespace weir::frontend
