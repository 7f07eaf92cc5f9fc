// One run of a seed, and its invariants:
//
//  1. No consumer is admitted more than the limit's algorithm allows in any range (bound.h), or than is stated for an
//     approximate limit. What the outage rules admit is not counted there.
//  2. Units are conserved at the store: granted = reported + returned + expired + held.
//  3. No decision takes longer than its timeout; one on approximate limits takes no time.
//  4. Three leases after the faults (approximate: 40 syncs), limits of 100 units and more admit 95 % of what exact ones
//     would; less for bursty demand (min_utilisation). No share of an approximate limit is spent then.
//  5. Nothing grows without bound: a ledger has at most one slice per node that may hold one, and without demand
//     nothing stays out.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/simulation/network.h"
#include "tests/simulation/trace.h"

namespace weir::simulation {

class Simulation {
 public:
  Simulation(std::uint64_t seed, Consistency kind, Mutant mutant, bool prints)
      : plan_(seed, kind), kind_(kind), random_(seed * 2), store_(mutant), trace_(prints), mutant_(mutant) {
    for (const LimitPlan& limit : plan_.limits) numbers_.push_back(limit.limit);
    make_bounds();
  }

  // Returns the first violation, with a trace; empty if there is none.
  [[nodiscard]] std::optional<std::string> run();

  // Totals of the run, so that a test can detect one that does nothing.
  struct Sums {
    std::uint64_t asked = 0;
    std::uint64_t on_slices = 0;  // admitted
    std::uint64_t by_store = 0;
    std::uint64_t by_outage_rules = 0;
    double utilisation = -1;  // of what exact limits admit; -1: not measured
  };
  [[nodiscard]] const Sums& sums() const noexcept { return sums_; }

 private:
  struct Request final : store::Group, store::Callback {
    Request(Simulation& its_simulation, Node& its_node) : simulation(its_simulation), node(its_node) {}
    virtual ~Request() = default;
    void answered(store::Group& /*group*/) override { simulation.note_answer(*this); }

    Simulation& simulation;
    Node& node;
    std::size_t key = 0;
    std::size_t version = 0;
    StoreTime asked;
    Instant asked_by_store{};
    std::vector<Micros> slice_windows;  // at the time of the request
    bool is_answered = false;
  };

  // Demand
  void ask_on();
  void ask(Node& node, std::size_t key, std::uint64_t cost);
  [[nodiscard]] std::size_t choose_key();
  [[nodiscard]] bool is_counted(const Request& request, const StoreTime& decided) const noexcept;
  void note_answer(Request& request);

  // Faults
  void begin(const FaultPlan& fault);
  void start_node(std::size_t place);
  void end_node(std::size_t place, Micros down);
  void pause(Node& node, Micros lasts, bool is_covered);
  void leap(Micros by);
  void lose_states(bool all);
  void reload();

  // Invariants
  void make_bounds();
  void check_applied(Node& node, Packet& packet);
  void check_bounds();
  void check_utilisation();
  [[nodiscard]] bool is_measured(const Request& request) const;
  [[nodiscard]] double min_utilisation() const;
  [[nodiscard]] std::uint64_t out();  // units of the first limit
  void check_end();
  void fail(const std::string& what, int key, Micros at);
  // What all nodes may admit together: the limit, or what is stated for an approximate one.
  [[nodiscard]] Limit most(std::size_t limit) const;
  [[nodiscard]] std::uint64_t allowance(std::size_t limit) const noexcept;
  [[nodiscard]] Bound& bound(std::size_t limit, std::size_t key) { return bounds_.at(shared_key(limit, key)); }
  [[nodiscard]] bool is_bucket(std::size_t limit) const noexcept {
    return numbers_[limit].algorithm() < Algorithm::fixed_window;
  }
  template <class Work>
  void for_each_key(Work work) {
    for (std::size_t i = 0; i < plan_.limits.size(); ++i) {
      for (std::size_t key = 0; key < plan_.keys; ++key) work(i, key);
    }
  }

  const Plan plan_;
  const Consistency kind_;
  Random random_;
  EventQueue queue_;
  SimulatedStore store_;
  Trace trace_;
  const Mutant mutant_;
  std::optional<std::string> failure_;
  Sums sums_;

  StoreTime applied_;  // of the answer being delivered
  Network::World world_{plan_,
                        queue_,
                        random_,
                        mutant_,
                        [this](Node& node, Packet& packet) { check_applied(node, packet); },
                        [this](const Packet& packet) { applied_ = packet.applied; }};

  std::vector<std::unique_ptr<Network>> networks_;
  std::vector<std::unique_ptr<Node>> all_nodes_;  // including those that ended
  std::vector<std::unique_ptr<Request>> requests_;
  std::vector<Node*> nodes_;  // null: not running
  std::vector<std::pair<const Node*, Micros>> ended_;
  std::size_t version_ = 0;
  std::vector<Limit> numbers_;
  StoreTime reloaded_;
  std::map<std::string, Bound> bounds_;
  Micros forgot_at_ = -1;
  Micros stepped_back_ = 0;
  store::CoreStates exact_;  // what the store knew when the faults had ended
  std::uint64_t out_at_start_ = 0;
  std::uint64_t out_at_end_ = 0;
};

}  // namespace weir::simulation

#include "tests/simulation/simulation_run.h"
