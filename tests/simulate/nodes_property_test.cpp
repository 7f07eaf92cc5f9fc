// Random logs on several nodes. Exact limits decide as in one process; leased ones never exceed the limit; the shared
// states decide like the core on a map.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <deque>
#include <string>
#include <vector>

#include "simulate/nodes.h"
#include "simulate/shared_states.h"
#include "tests/simulate/simulation.h"
#include "tests/store/memory_store.h"

namespace weir::simulate {
namespace {

using policy::Consistency;

const std::array<std::string, 7> algorithms{
    "algorithm: token_bucket, rate: {}/s, burst: {}", "algorithm: gcra, rate: {}/s, burst: {}",
    "algorithm: leaky_bucket, rate: {}/s, burst: {}", "algorithm: fixed_window, rate: {}/2s",
    "algorithm: sliding_window_counter, rate: {}/2s", "algorithm: sliding_window_log, rate: {}/2s",
    "algorithm: leaky_bucket, rate: {}/s, queue: {}",
};

std::string limit_text(const std::string& name, const std::string& key) {
  const auto& algorithm = *rc::gen::elementOf(algorithms);
  const int rate = *rc::gen::inRange(5, 60);
  const int burst = *rc::gen::inRange(1, 60);
  return "  - { name: " + name + ", consumer_key: " + key + ", " + fmt::format(fmt::runtime(algorithm), rate, burst) +
         " }\n";
}

// A few seconds of requests by a few consumers.
Simulation random_log() {
  std::string limits = limit_text("first", "ip");
  if (*rc::gen::arbitrary<bool>()) limits += limit_text("second", *rc::gen::element("ip", "global"));
  Simulation simulation(limits);
  const int requests = *rc::gen::inRange(1, 600);
  const int widest = *rc::gen::element(3, 20, 100);
  int at = 0;
  for (int i = 0; i < requests; ++i) {
    at += *rc::gen::inRange(0, widest);
    if (*rc::gen::inRange(0, 100) == 0) at += 1'500;
    simulation.request(at, fmt::format("192.0.2.{}", *rc::gen::inRange(1, 4)));
  }
  simulation.options.nodes.nodes = *rc::gen::inRange<std::size_t>(1, 6);
  simulation.options.nodes.round_trip = std::chrono::milliseconds{*rc::gen::element(0, 1, 30)};
  simulation.options.nodes.spread = *rc::gen::element(Spread::round_robin, Spread::client);
  return simulation;
}

RC_GTEST_PROP(NodesProperties, ExactNodesDecideAsOneProcess, ()) {
  Simulation simulation = random_log();
  simulation.options.nodes.consistency = Consistency::exact;
  const Report report = simulation.run();
  const NodesReport& nodes = *report.nodes;
  RC_ASSERT(nodes.admitted == report.policy.admitted);
  RC_ASSERT(nodes.denied == report.policy.denied);
  RC_ASSERT(nodes.newly_denied + nodes.newly_admitted == 0U);
  RC_ASSERT(nodes.messages.requests == report.pace.requests);
  for (std::size_t i = 0; i < nodes.limits.size(); ++i) {
    const LimitCounts& counts = report.policy.limits[i].counts;
    RC_ASSERT(nodes.limits[i].exact_admitted == counts.of(engine::Event::admitted));
    RC_ASSERT(nodes.limits[i].exact_denied == counts.denied());
    RC_ASSERT(nodes.limits[i].admitted == nodes.limits[i].exact_admitted);
    RC_ASSERT(nodes.limits[i].denied == nodes.limits[i].exact_denied);
    RC_ASSERT(nodes.limits[i].newly_denied + nodes.limits[i].newly_admitted == 0U);
  }
}

RC_GTEST_PROP(NodesProperties, LeasedNodesNeverPassTheLimit, ()) {
  Simulation simulation = random_log();
  simulation.options.nodes.consistency = Consistency::leased;
  const Report report = simulation.run();
  const NodesReport& nodes = *report.nodes;
  RC_ASSERT(nodes.admitted + nodes.denied == report.pace.requests);
  RC_ASSERT(nodes.admitted + nodes.newly_denied == report.policy.admitted + nodes.newly_admitted);
  for (const NodesReport::OfLimit& limit : nodes.limits) {
    RC_ASSERT(limit.over.value_or(0) == 0U);
    RC_ASSERT(limit.without_round_trip <= limit.evaluated);
  }
  RC_ASSERT(report_json(report) == report_json(simulation.run()));
}

// --- the shared states, compared with the core on a map

struct Both {
  SharedStates shared{1'000};
  store::CoreStates core;

  void decide(const store::Group& group, Instant now) {
    store::Group ours = group;
    store::Group theirs = group;
    std::deque<store::OwnExtension> extensions;
    for (std::size_t i = 0; i < group.checks.size(); ++i) {
      ours.checks[i].extension = copy_of(group.checks[i].extension, extensions);
      theirs.checks[i].extension = copy_of(group.checks[i].extension, extensions);
    }
    shared.decide(ours, now);
    core.decide(theirs, now);
    RC_ASSERT(ours.admitted == theirs.admitted);
    RC_ASSERT(ours.now == theirs.now);
    for (std::size_t i = 0; i < group.checks.size(); ++i) {
      RC_ASSERT(ours.checks[i].decision == theirs.checks[i].decision);
      // The core on a map forgets expired states by whole milliseconds.
      if (ours.checks[i].message() == nullptr) continue;
      theirs.checks[i].message()->answer.expired = ours.checks[i].message()->answer.expired;
      RC_ASSERT(ours.checks[i].message()->answer == theirs.checks[i].message()->answer);
    }
  }
};

RC_GTEST_PROP(NodesProperties, SharedStatesDecideAsTheCore, ()) {
  const Rate rate{*rc::gen::inRange<std::uint64_t>(1, 50), std::chrono::seconds{1}};
  const std::uint64_t burst = *rc::gen::inRange<std::uint64_t>(1, 50);
  const std::array rules{
      core::compile(Limit::token_bucket({rate, burst}).value()),
      core::compile(Limit::leaky_bucket(QueueNumbers{rate, burst}).value()),
      core::compile(Limit::fixed_window({burst, std::chrono::seconds{1}}).value()),
      core::compile(Limit::sliding_window_counter({burst, std::chrono::seconds{1}}).value()),
      core::compile(Limit::sliding_window_log({burst, std::chrono::seconds{1}}).value()),
  };
  Both both;
  Instant now{std::chrono::seconds{1'700'000'000}};
  std::uint64_t number = 0;
  for (int step = *rc::gen::inRange(1, 120); step > 0; --step) {
    now += std::chrono::milliseconds{*rc::gen::element(0, 1, 40, 300, 2'500)};
    store::Group group;
    group.operation = *rc::gen::element(store::Operation::decide, store::Operation::decide, store::Operation::decide,
                                        store::Operation::look, store::Operation::settle);
    const std::size_t checks = group.operation == store::Operation::settle ? 1 : *rc::gen::inRange<std::size_t>(1, 4);
    std::deque<store::OwnExtension> extensions;
    for (std::size_t i = 0; i < checks; ++i) {
      const std::size_t rule = (static_cast<std::size_t>(step) + i) % rules.size();
      store::Check check = store::check_of(std::to_string(rule), rules[rule], *rc::gen::inRange<std::uint64_t>(0, 8));
      if (*rc::gen::inRange(0, 5) == 0) check.role = store::Check::Role::guard;
      if (group.operation == store::Operation::decide && core::is_leasable(rules[rule]) &&
          *rc::gen::arbitrary<bool>()) {
        const core::SliceMessage message{.holder = *rc::gen::inRange<std::uint64_t>(1, 4),
                                         .number = ++number - *rc::gen::inRange<std::uint64_t>(0, 2),
                                         .used = 3 * number + *rc::gen::inRange<std::uint64_t>(0, 8),
                                         .keep = *rc::gen::inRange<std::uint64_t>(0, 8),
                                         .want = *rc::gen::inRange<std::uint64_t>(0, 20),
                                         .lease = std::chrono::milliseconds{*rc::gen::element(100, 1'000)}};
        extensions.emplace_back().send(message);
        check.extension = &extensions.back();
      }
      group.checks.push_back(check);
    }
    if (group.operation == store::Operation::settle) {
      group.checks[0].role = store::Check::Role::charge;
      group.settlement = core::Settlement{group.checks[0].cost, Cost{*rc::gen::inRange<std::uint64_t>(0, 8)}, now};
    }
    both.decide(group, now);
  }
}

}  // namespace
}  // namespace weir::simulate
