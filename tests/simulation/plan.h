// The plan of a seed: the limits, the nodes, the demand, the network and the faults of one run.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "core/rule.h"
#include "store/store.h"
#include "tests/simulation/event_queue.h"
#include "weir/limit.h"

namespace weir::simulation {

// std distributions differ between libraries; a seed must mean the same everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  [[nodiscard]] std::uint64_t word() { return engine_(); }
  [[nodiscard]] std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(most - least + 1));
  }
  [[nodiscard]] double part() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  [[nodiscard]] bool chance(double probability) { return part() < probability; }

 private:
  std::mt19937_64 engine_;
};

// How a node decides a limit.
enum class Consistency : std::uint8_t { exact, leased, approximate };

struct LimitPlan {
  Limit limit;
  Consistency consistency;
  store::OnFailure on_failure;
};

enum class Shape : std::uint8_t { steady, bursty, skewed, moving };

enum class Fault : std::uint8_t {
  cut_off,            // a node: messages in one direction are lost
  disconnected,       // a node knows that it has no connection
  stopped,            // a node: its clock continues
  paused,             // a node and its clock, for less than slices tolerate
  paused_long,        // for more than slices tolerate
  crashed,            // a node, and restarted
  shut_down,          // orderly, and restarted
  store_emptied,      // it restarts without its states
  store_failed_over,  // to one that lacks the last writes
  leapt,              // the store's clock jumps forward by less than slices tolerate
  leapt_far,          // by more than slices tolerate
  stepped_back,       // the store's clock
  reloaded,           // the limits have other numbers
};

struct FaultPlan {
  Fault fault;
  Micros at;
  Micros lasts;
  std::size_t node;
};

struct NetworkPlan {
  Micros max_delay;  // each way, usually
  double late = 0;   // share of messages that take up to a lease and a half
  double lost = 0;
  double doubled = 0;  // share of those with slice messages
};

struct Plan {
  // `kind` is the consistency of the limits that are not exact.
  Plan(std::uint64_t seed, Consistency kind);

  Micros lease;  // four syncs for an approximate limit
  Micros timeout;
  std::size_t nodes;
  std::size_t keys;
  std::size_t max_slices;  // of a node and limit
  bool has_outage_store;
  std::vector<LimitPlan> limits;  // a request uses the first, or the first two
  std::vector<Limit> reloaded;    // the same with other numbers
  double both = 0;                // share of requests that use two limits
  Shape shape;
  double requests_per_second = 0;
  std::int64_t dearest = 1;
  NetworkPlan network;
  std::vector<FaultPlan> faults;

  // The faults have ended; three leases (40 syncs) have passed; the measurement has ended; and there is no more demand.
  Micros quiet_at, measured_from, idle_at, ends_at;

 private:
  void choose_limits(Random& random, Consistency kind);
  void choose_faults(Random& random);
};

inline Limit make_limit(Algorithm algorithm, std::uint64_t capacity, Micros fill) {
  const BucketNumbers bucket{{capacity, Duration{fill}}, capacity};
  const WindowNumbers window{capacity, Duration{fill}};
  switch (algorithm) {
    case Algorithm::token_bucket:
      return *Limit::token_bucket(bucket);
    case Algorithm::gcra:
      return *Limit::gcra(bucket);
    case Algorithm::fixed_window:
      return *Limit::fixed_window(window);
    case Algorithm::sliding_window_counter:
      return *Limit::sliding_window_counter(window);
    default:
      return *Limit::leaky_bucket(bucket);
  }
}

inline Plan::Plan(std::uint64_t seed, Consistency kind) {
  Random random(seed * 2 + 1);
  lease = 1'000 * random.between(200, 1'000);
  timeout = random.chance(0.7) ? 1'000 * random.between(10, 50) : random.between(50'000, lease * 6 / 10);
  nodes = static_cast<std::size_t>(random.chance(0.5) ? random.between(2, 4) : random.between(2, 16));
  keys = static_cast<std::size_t>(random.between(1, 6));
  max_slices = random.chance(0.2) ? 2 : 1'000;
  has_outage_store = random.chance(0.5);
  shape = static_cast<Shape>(random.between(0, 3));
  dearest = random.chance(0.3) ? random.between(2, 6) : 1;
  choose_limits(random, kind);
  network.max_delay = random.chance(0.7) ? random.between(100, 2'000) : random.between(100, timeout);
  const bool has_faults = random.chance(0.8);
  if (has_faults) {
    network.late = random.chance(0.3) ? 0.03 : 0;
    network.lost = random.chance(0.4) ? random.part() * 0.2 : 0;
    network.doubled = random.chance(0.4) ? random.part() * 0.3 : 0;
  }
  quiet_at = 8 * lease;
  measured_from = quiet_at + (kind == Consistency::approximate ? 10 : 3) * lease;
  idle_at = measured_from + 8 * lease;
  ends_at = idle_at + 5 * lease;
  if (has_faults) choose_faults(random);
}

inline void Plan::choose_limits(Random& random, Consistency kind) {
  constexpr Algorithm leasable[] = {Algorithm::token_bucket, Algorithm::gcra, Algorithm::leaky_bucket_meter,
                                    Algorithm::fixed_window, Algorithm::sliding_window_counter};
  const std::size_t count = random.chance(0.4) ? 2 : 1;
  for (std::size_t i = 0; i < count; ++i) {
    const Algorithm algorithm = leasable[random.between(0, 4)];
    const std::int64_t capacity = random.chance(0.4) ? random.between(8, 40) : random.between(100, 400);
    const Micros fill = random.between(lease / 2, 4 * lease) / 1'000 * 1'000;
    const bool is_leased = i == 0 || random.chance(0.3);
    limits.push_back({make_limit(algorithm, static_cast<std::uint64_t>(capacity), fill),
                      is_leased ? kind : Consistency::exact, static_cast<store::OnFailure>(random.between(0, 2))});
    const std::int64_t other = std::max<std::int64_t>(8, capacity * random.between(50, 200) / 100);
    const bool is_window = algorithm >= Algorithm::fixed_window;  // a different length would make it another limit
    reloaded.push_back(make_limit(algorithm, static_cast<std::uint64_t>(other),
                                  is_window ? fill : fill * random.between(50, 200) / 100));
  }
  both = count == 2 ? 0.3 + random.part() * 0.7 : 0;
  const Limit& first = limits[0].limit;
  const double units =
      static_cast<double>(first.capacity()) * 1e6 / static_cast<double>(core::time_to_fill(first).count());
  const double wanted =
      units * static_cast<double>(keys) * (0.3 + random.part() * 3) / (0.5 + 0.5 * static_cast<double>(dearest));
  requests_per_second = std::min(wanted, 5'000.0 * 1e6 / static_cast<double>(15 * lease));
}

inline void Plan::choose_faults(Random& random) {
  bool has_clock_fault = false;
  bool store_forgets = false;
  bool store_moves = false;
  const bool only_reloads = random.chance(0.1);
  const std::int64_t count = only_reloads ? random.between(10, 40) : random.between(0, 10);
  for (std::int64_t i = 0; i < count; ++i) {
    const Fault kind = only_reloads ? Fault::reloaded : static_cast<Fault>(random.between(0, 12));
    FaultPlan fault{kind, random.between(lease, 7 * lease), 0,
                    static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(nodes) - 1))};
    const bool is_of_clocks = fault.fault == Fault::paused || fault.fault == Fault::paused_long ||
                              fault.fault == Fault::leapt || fault.fault == Fault::leapt_far;
    // Together they could exceed what slices tolerate.
    if (is_of_clocks && has_clock_fault) continue;
    // What a store forgets is a credit at that instant (bound.h): if its clock moves as well, the window is undefined.
    const bool forgets = kind == Fault::store_emptied || kind == Fault::store_failed_over;
    const bool moves = kind == Fault::leapt || kind == Fault::leapt_far || kind == Fault::stepped_back;
    if ((forgets && store_moves) || (moves && store_forgets)) continue;
    store_forgets = store_forgets || forgets;
    store_moves = store_moves || moves;
    has_clock_fault = has_clock_fault || is_of_clocks;
    const bool is_short = fault.fault == Fault::paused || fault.fault == Fault::leapt;
    fault.lasts = is_short ? random.between(1, lease / 5) : random.between(lease / 4, quiet_at - fault.at);
    faults.push_back(fault);
  }
}

}  // namespace weir::simulation
