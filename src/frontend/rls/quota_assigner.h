// Divides one limit, for one consumer, among the Envoys that enforce it (docs/decisions/0016).
//
// The pool is the unassigned part of the burst. A holder is one bucket of one stream; it has the assignments that may
// be active there. Three invariants imply the bound (burst + T / token in every period T, over all holders):
//
// 1. pool + the bursts of all assignments <= the limit's burst. A new assignment is a new, full bucket in Envoy: its
//    burst is taken from the pool and is not returned when it expires.
// 2. The sum of the rates of all holders <= the limit's rate. A holder's rate is that of its largest
//    assignment, because it is unknown when a new one replaces an old one.
// 3. The pool grows by the unassigned rate only.
//
// An assignment counts until it expires, even if its holder leaves. Time is passed in; a time before the last one has
// no effect. Not thread-safe.
//
// The cost of a call is logarithmic in the number of holders:
//
// 4. Sums are maintained incrementally. A call visits its own holder, at most `max_expired` holders with expired
//    assignments, and for each of them O(log n) nodes of an ordered set.
// 5. If more holders have expired assignments, time stops at the last expiration until the next call. The remaining
//    expired assignments still count, and the pool does not grow.
// 6. change() visits every holder if the fill interval changes. Its callers must keep that rare.
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
  // The numbers of the limit, or of this node's share of it.
  struct Numbers {
    std::uint64_t burst = 0;
    Rate rate;

    friend bool operator==(const Numbers&, const Numbers&) = default;
  };

  // A share of the limit. It is empty if either number is zero.
  struct Share {
    std::uint64_t burst = 0;
    std::uint64_t per_fill = 0;

    [[nodiscard]] bool is_empty() const noexcept { return burst == 0 || per_fill == 0; }
    friend bool operator==(const Share&, const Share&) = default;
  };

  using Holder = std::uint64_t;

  // Shares are whole numbers per fill interval. The interval is long enough for at least this many units.
  static constexpr std::uint64_t min_per_fill = 100;
  // Envoy treats a rate below one per year as one per year.
  static constexpr std::chrono::seconds max_fill = std::chrono::days{365};
  // A holder with this many assignments gets no offer until one expires.
  static constexpr std::size_t max_assignments = 8;
  // The maximum number of holders whose assignments one call expires.
  static constexpr std::size_t max_expired = 256;

  QuotaAssigner(const Numbers& numbers, Instant now);

  // Active assignments keep counting, and no holder gets a new burst.
  void change(const Numbers& numbers, Instant now);
  [[nodiscard]] const Numbers& numbers() const noexcept { return numbers_; }
  // Returns whole seconds, at least one. The result depends on the numbers only.
  [[nodiscard]] std::chrono::seconds fill_interval() const noexcept { return fill_; }

  [[nodiscard]] Holder join();
  void leave(Holder holder);
  // Sets the demand to these requests, admitted or not, in the time `over`. The demand is unknown before the first
  // call.
  void set_demand(Holder holder, std::uint64_t requests, Cost each, Duration over);

  // Returns the target share of the holder: max-min fair by demand. Half of the surplus is divided equally; the other
  // half is kept for new holders.
  [[nodiscard]] Share fair(Holder holder);
  // Returns the share that can be assigned now. It is below the fair share while other holders
  // still have part of it.
  [[nodiscard]] Share offer(Holder holder, Instant now);
  // `share` must not exceed offer() at the same time.
  void assign(Holder holder, const Share& share, Instant now, Instant until);
  // Renews the latest assignment, which must still be active in Envoy.
  void extend(Holder holder, Instant until);

  // True if the numbers were lowered below the sum of the latest assignments.
  [[nodiscard]] bool is_overdrawn() const noexcept {
    return sums_.latest_burst > burst_ || sums_.latest_per_fill > per_fill_;
  }
  // True if there are no holders and the pool is full.
  [[nodiscard]] bool is_pristine(Instant now);
  // Includes holders that have left but have active assignments.
  [[nodiscard]] std::size_t holders() const noexcept { return holders_.size(); }

  // For tests and metrics.
  [[nodiscard]] std::uint64_t pool(Instant now);
  [[nodiscard]] std::uint64_t assigned_burst() const noexcept { return sums_.burst; }
  [[nodiscard]] std::uint64_t assigned_per_fill() const noexcept { return sums_.per_fill; }
  [[nodiscard]] std::uint64_t per_fill() const noexcept { return per_fill_; }
  // The number of holders and demand nodes visited by all calls.
  [[nodiscard]] std::uint64_t visited() const noexcept { return visited_ + known_.visited() + unknown_.visited(); }

 private:
  __extension__ using Wide = __int128;

  struct Assignment {
    Share share;
    Instant until;
  };
  struct State {
    bool has_left = false;
    std::optional<std::uint64_t> demand;  // per fill interval; none: unknown
    std::vector<Assignment> assignments;  // the latest is last

    [[nodiscard]] std::uint64_t per_fill() const noexcept;
    [[nodiscard]] Instant next_expiration() const noexcept;
  };
  // Sums over all holders.
  struct Sums {
    std::uint64_t burst = 0;
    std::uint64_t per_fill = 0;
    std::uint64_t latest_burst = 0;  // both are sums over the latest assignments of holders that have not left
    std::uint64_t latest_per_fill = 0;
  };
  // Demands up to `level` are met in full. All other holders get `level`; those from rank `one_more_from` on get one
  // unit more, so that nothing is left over.
  struct Division {
    std::uint64_t unknown = 0;  // the assumed demand of a holder whose demand is unknown
    std::uint64_t level = 0;
    std::uint64_t one_more_from = 0;
    std::uint64_t beyond_demand = 0;  // added to every share
  };

  void set_numbers(const Numbers& numbers);
  void advance(Instant now, std::size_t max_visits = max_expired);
  void fill_until(Instant now);
  void expire_assignments(Holder holder, Instant now);
  [[nodiscard]] static Sums sums_of(const State& state) noexcept;
  void count_in(Holder holder, const State& state);
  void count_out(Holder holder, const State& state);
  [[nodiscard]] State& visit(Holder holder);
  void forget_demand(Holder holder, const State& state);
  void divide() noexcept;
  // The rank among the holders that have not left, ordered by demand.
  [[nodiscard]] std::uint64_t rank(Holder holder, const State& state) const noexcept;
  [[nodiscard]] Wide fill_micros() const noexcept { return Duration(fill_).count(); }
  // The part of the pool reserved for lowering rates.
  [[nodiscard]] std::uint64_t reserve() const noexcept;

  Numbers numbers_;
  std::uint64_t burst_ = 0;
  std::chrono::seconds fill_{1};
  std::uint64_t per_fill_ = 0;  // units of the limit per fill interval
  Instant at_;
  Wide pool_ = 0;  // in units x microseconds of the fill interval, which is exact
  std::unordered_map<Holder, State> holders_;
  Holder next_ = 0;
  // Each holder that has not left is in one of these.
  QuotaDemands known_;
  QuotaDemands unknown_;                              // holders without a known demand, entered with zero units
  std::set<std::pair<Instant, Holder>> expirations_;  // the next expiration of each holder that has assignments
  Sums sums_;
  Division division_;
  bool is_divided_ = false;
  std::uint64_t visited_ = 0;
};

}  // namespace weir::frontend
