// A process of a run: the real leased and outage stores over the simulated network, with its own clock and limits.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/leased/leased_store.h"
#include "store/outage/outage_store.h"
#include "store/shared/shared_terms.h"
#include "table/table.h"
#include "tests/set_clock.h"
#include "tests/simulation/plan.h"

namespace weir::simulation {

[[nodiscard]] inline std::string shared_key(std::size_t limit, std::size_t key) {
  return std::to_string(limit) + ":" + std::to_string(key);
}
[[nodiscard]] inline table::KeyHash hash_of(std::size_t key) noexcept {
  return {(key + 1) * 0x9E37'79B9'7F4A'7C15U};
}

// One limit with one set of numbers, in one process.
struct NodeLimit {
  NodeLimit(const Plan& plan, const LimitPlan& of, const Limit& limit, std::shared_ptr<store::SliceHolder> holder) {
    states.rule = core::compile(limit);
    states.on_failure = of.on_failure;
    states.shared = &terms;
    if (plan.has_outage_store) {
      terms.share = store::NodeShare{limit};
      table = *table::Table::create(states.rule, std::size_t{1} << 20, {1, 2});
      states.table = table.get();
      terms.charges_back = true;
    }
    // As policy::effective_sync: at least ten exchanges per window or time to fill, or exact decisions.
    const Duration sync = std::min(Duration{plan.lease / 4}, core::time_to_fill(limit) / 10);
    const bool is_brief = of.consistency == Consistency::approximate && sync < std::chrono::milliseconds(20);
    if (of.consistency == Consistency::exact || is_brief) return;
    store::SliceTable::Options options{.rule = states.rule,
                                       .capacity = limit.capacity(),
                                       .lease = Duration{plan.lease},
                                       .max_keys = plan.max_slices,
                                       .holder = std::move(holder)};
    if (of.consistency == Consistency::approximate) options.approximate = {limit, sync};
    slices = std::make_shared<store::SliceTable>(std::move(options));
    terms.slices = slices.get();
  }

  store::SharedTerms terms;
  store::States states;
  std::unique_ptr<table::Table> table;
  std::shared_ptr<store::SliceTable> slices;
};

class Node {
 public:
  Node(const Plan& plan, int its_index, Random& random, store::Store& network, const EventQueue& queue)
      : index(its_index),
        holder(std::make_shared<store::SliceHolder>(random.word())),
        drift_(random.part() * 0.002 - 0.001),
        booted_(random.between(0, 1'000'000'000)),
        queue_(queue),
        outage_(network, wall_, Duration{plan.timeout}, has_charges_, &holder->nodes),
        leased_(plan.has_outage_store ? outage_ : network, [this] { return ticks(); }) {
    holder->nodes.store(static_cast<std::uint32_t>(plan.nodes));
  }

  // By its own clock.
  [[nodiscard]] Micros ticks() const noexcept {
    const Micros passed = queue_.now() - clock_lost;
    return booted_ + passed + static_cast<Micros>(static_cast<double>(passed) * drift_);
  }
  store::LeasedStore& store() {
    wall_.set(Instant{std::chrono::seconds(1'700'000'000) + Duration{queue_.now() - clock_lost}});
    return leased_;
  }

  void load(const Plan& plan, const std::vector<Limit>& numbers) {
    for (NodeLimit* const old : limits) {
      if (old->slices) old->slices->retire();
    }
    limits.clear();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      all_limits_.push_back(std::make_unique<NodeLimit>(plan, plan.limits[i], numbers[i], holder));
      limits.push_back(all_limits_.back().get());
    }
  }

  const int index;
  const std::shared_ptr<store::SliceHolder> holder;
  bool is_alive = true;
  bool takes_requests = true;
  Micros stopped_until = 0;
  Micros lost_until = 0;  // messages in both directions are lost until then
  Micros away_until = 0;
  Micros not_covered_until = 0;  // a pause that is longer than slices tolerate
  Micros clock_lost = 0;         // how long its clock stood still
  Micros last_stop = 0;          // when it last ended
  std::vector<NodeLimit*> limits;
  // By key on the store: the window of the slice, and what was spent of it since the last message was sent.
  std::map<std::string, Micros> slice_windows;
  std::map<std::string, std::uint64_t> spent;
  std::map<std::string, std::uint64_t> spent_in_all;  // since the start

 private:
  const double drift_;
  const Micros booted_;
  const EventQueue& queue_;
  SetClock wall_{Instant{}};
  std::atomic<bool> has_charges_{false};
  std::vector<std::unique_ptr<NodeLimit>> all_limits_;
  store::OutageStore outage_;
  store::LeasedStore leased_;
};

}  // namespace weir::simulation
