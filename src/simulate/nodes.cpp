#include "simulate/nodes.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "policy/consistency.h"

namespace weir::simulate {
namespace {

using engine::Outcome;
using engine::Standing;
using engine::Verdict;
using policy::Consistency;
using policy::WhyExact;

// How often a loop of the server looks for unused slices.
constexpr Duration tick_every = std::chrono::milliseconds{25};

// The number of consumers per limit that are measured for excess; more are sampled.
constexpr std::size_t max_measured = 100'000;

// The tables of a node stay empty in a simulation, so this reserves only address space.
constexpr std::size_t memory_of_node = std::size_t{64} << 20;

std::shared_ptr<const policy::Ruleset> with_consistency(std::shared_ptr<const policy::Ruleset> ruleset,
                                                        std::optional<Consistency> consistency) {
  if (!consistency) return ruleset;
  auto changed = std::make_shared<policy::Ruleset>(*ruleset);
  for (policy::CompiledLimit& limit : changed->limits) limit.consistency.kind = *consistency;
  return changed;
}

std::string_view text_of(WhyExact why) noexcept {
  switch (why) {
    case WhyExact::not_exact:
    case WhyExact::written:
      break;
    case WhyExact::shadow:
      return " (shadow)";
    case WhyExact::queue:
      return " (queue)";
    case WhyExact::log:
      return " (log)";
    case WhyExact::small:
      return " (small)";
    case WhyExact::no_allowance:
      return " (below 4 per node)";
    case WhyExact::calendar:
      return " (calendar)";
  }
  return {};
}

std::string consistency_text(const policy::CompiledLimit& limit, std::size_t nodes) {
  std::set<std::string> texts;
  for (const auto& numbers : limit.live.by_tier) {
    if (!numbers) continue;
    const auto effective = policy::effective_consistency(limit, *numbers, nodes);
    texts.insert(std::string(name_of(effective.kind)) + std::string(text_of(effective.why_exact)));
  }
  std::string text;
  for (const std::string& one : texts) text += (text.empty() ? "" : ", ") + one;
  return text;
}

// Returns the bound on the excess of an approximate limit, the maximum over its tiers; absent for other limits.
std::optional<std::uint64_t> max_excess(const policy::CompiledLimit& limit, std::size_t nodes) {
  std::optional<std::uint64_t> max;
  for (const auto& numbers : limit.live.by_tier) {
    if (!numbers || policy::effective_consistency(limit, *numbers, nodes).kind != Consistency::approximate) continue;
    const std::uint64_t over = policy::approximate_bound(*numbers, nodes).max_admitted - numbers->capacity();
    max = std::max(max.value_or(0), over);
  }
  return max;
}

}  // namespace

Result<std::unique_ptr<Nodes>> Nodes::create(std::shared_ptr<const policy::Ruleset> ruleset,
                                             const NodesOptions& options, std::size_t memory_budget,
                                             std::size_t max_consumers) {
  if (options.nodes > NodesOptions::max_nodes) {
    return failure("nodes",
                   std::to_string(options.nodes) + " is too many; at most " + std::to_string(NodesOptions::max_nodes));
  }
  ruleset = with_consistency(std::move(ruleset), options.consistency);
  std::unique_ptr<Nodes> nodes(new Nodes(options, ruleset, memory_budget / SharedStates::bytes_each, max_consumers));
  const NodeContext context{.ruleset = std::move(ruleset),
                            .keys = std::make_shared<store::SharedKeys>("", ""),
                            .memory_budget = std::max(memory_of_node, memory_budget / options.nodes),
                            .nodes = static_cast<std::uint32_t>(options.nodes),
                            .store = nodes->store_,
                            .clock = nodes->clock_};
  for (std::size_t i = 0; i < options.nodes; ++i) {
    auto node = SimulatedNode::create(context, i);
    if (!node) return tl::unexpected(node.error());
    (*node)->add_states(nodes->store_.limits);
    nodes->nodes_.push_back(std::move(*node));
  }
  nodes->wakes_for_ = nodes->nodes_.front()->wakes_for();
  return nodes;
}

Nodes::Nodes(const NodesOptions& options, std::shared_ptr<const policy::Ruleset> ruleset, std::size_t max_states,
             std::size_t max_consumers)
    : options_(options),
      ruleset_(std::move(ruleset)),
      store_(clock_, options.round_trip, max_states),
      awake_until_(options.nodes, Instant::min()) {
  store_.messages_of.resize(ruleset_->limits.size());
  store_.contended_denials_of.resize(ruleset_->limits.size());
  const std::size_t share = max_consumers / std::max<std::size_t>(1, ruleset_->limits.size());
  for (const policy::CompiledLimit& limit : ruleset_->limits) {
    OfLimit& of = limits_.emplace_back(OfLimit{{}, LimitDemand(limit.live, std::min(max_measured, share))});
    of.report.name = limit.name;
    of.report.consistency = consistency_text(limit, options.nodes);
    of.report.max_excess = max_excess(limit, options.nodes);
  }
}

// --- requests

void Nodes::add(const Query& query, Instant at, const Verdict& exact) {
  run_until(at);
  Request& request = *requests_.emplace_back(&request_pool_.acquire());
  request.at = at;
  request.exact_admitted = exact.admitted;
  request.exact.clear();
  for (const Outcome& outcome : exact.outcomes) request.exact.push_back(fate_of(outcome, exact));
  const std::size_t node = node_for(query);
  wake(node);
  request.batch = nodes_[node]->evaluator().new_batch();
  request.batch->add(query);
  request.is_done = request.batch->submit(at);
  if (request.is_done) {
    if (!exact.outcomes.empty()) ++report_.without_round_trip;
  } else {
    request.batch->on_done([&request] { request.is_done = true; });
  }
  conclude_all();
}

// std::hash gives the same result in every run, so the simulation is deterministic.
std::size_t Nodes::node_for(const Query& query) noexcept {
  const std::string_view client = !query.ip.empty() ? query.ip : query.user;
  if (options_.spread == Spread::client && !client.empty()) {
    return std::hash<std::string_view>{}(client) % nodes_.size();
  }
  return next_node_++ % nodes_.size();
}

// --- time

void Nodes::run_until(Instant until) {
  while (true) {
    const bool has_answer = !store_.answers.empty();
    const Instant answer = has_answer ? store_.answers.front().at : Instant::max();
    const Instant next = std::min(answer, next_tick_.value_or(Instant::max()));
    if (next > until || next == Instant::max()) break;
    clock_.set(next);
    if (answer <= next) {
      store::Group& group = *store_.answers.front().group;
      store_.answers.pop_front();
      group.callback->answered(group);
    } else {
      tick();
    }
  }
  clock_.set(until);
  conclude_all();
}

void Nodes::wake(std::size_t node) {
  if (wakes_for_ == Duration::zero()) return;  // nothing is leased
  awake_until_[node] = clock_.now() + wakes_for_;
  if (!next_tick_) next_tick_ = clock_.now() + tick_every;
}

void Nodes::tick() {
  next_tick_.reset();
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (awake_until_[i] < clock_.now()) continue;
    nodes_[i]->tick();
    next_tick_ = clock_.now() + tick_every;
  }
}

void Nodes::DistantStore::submit(store::Batch batch) {
  for (store::Group* const group : batch) {
    states.decide(*group, clock.now());
    note(*group);
    answers.push_back({clock.now() + round_trip, group});
  }
}

void Nodes::DistantStore::note(const store::Group& group) {
  messages.add(second_of(clock.now()));
  const auto raise = [&](std::vector<std::uint64_t>& counts, const store::Check& check) {
    const auto limit = limits.find(check.states);
    if (limit != limits.end()) ++counts[limit->second];
  };
  for (const store::Check& check : group.checks) raise(messages_of, check);
  for (const store::Check* const check : states.contended_denials()) raise(contended_denials_of, *check);
}

// --- outcomes

Nodes::Fate Nodes::fate_of(const Outcome& outcome, const Verdict& verdict) noexcept {
  const bool counts = verdict.admitted || outcome.standing == Standing::shadow;
  const bool denies = !verdict.admitted || outcome.standing == Standing::shadow;
  return {.admitted = outcome.decision.admitted && counts, .denied = !outcome.decision.admitted && denies};
}

void Nodes::conclude_all() {
  while (!requests_.empty() && requests_.front()->is_done) {
    conclude(*requests_.front());
    requests_.front()->batch.reset();
    request_pool_.release(*requests_.front());
    requests_.pop_front();
  }
}

void Nodes::conclude(const Request& request) {
  const Verdict& verdict = request.batch->verdict(0);
  ++(verdict.admitted ? report_.admitted : report_.denied);
  if (!verdict.outcomes.empty()) ++report_.covered;
  if (verdict.admitted != request.exact_admitted) {
    ++(verdict.admitted ? report_.newly_admitted : report_.newly_denied);
  }
  for (std::size_t i = 0; i < verdict.outcomes.size(); ++i) {
    const Outcome& outcome = verdict.outcomes[i];
    OfLimit& of = limits_[outcome.limit];
    const Fate fate = fate_of(outcome, verdict);
    const Fate exact = request.exact[i];
    of.report.exact_admitted += exact.admitted;
    of.report.exact_denied += exact.denied;
    of.report.admitted += fate.admitted;
    of.report.denied += fate.denied;
    of.report.newly_denied += fate.denied && !exact.denied;
    of.report.newly_admitted += fate.admitted && exact.denied;
    if (fate.admitted) of.admitted.add(verdict.tier, outcome.consumer.value, outcome.cost, request.at);
  }
}

NodesReport Nodes::finish(double seconds) {
  next_tick_.reset();  // slices that are returned after the last request do not count
  while (!store_.answers.empty()) run_until(store_.answers.back().at);
  report_.nodes = options_.nodes;
  report_.spread = options_.spread;
  report_.round_trip = options_.round_trip;
  if (options_.consistency) report_.consistency = name_of(*options_.consistency);
  report_.messages = store_.messages.peaks();
  report_.messages_per_second = static_cast<double>(report_.messages.requests) / seconds;
  std::vector<LimitPaths> paths(limits_.size());
  for (const auto& node : nodes_) node->add_paths(paths);
  for (std::size_t i = 0; i < limits_.size(); ++i) {
    NodesReport::OfLimit of = limits_[i].report;
    of.evaluated = paths[i].evaluated;
    of.without_round_trip = paths[i].without_round_trip;
    of.messages = store_.messages_of[i];
    of.contended_denials = store_.contended_denials_of[i];
    for (const Demand& got : limits_[i].admitted.report(ruleset_->tiers.names)) {
      const std::uint64_t max = got.rates.front().number.all;
      if (got.upper_bound) of.over.reset();
      if (of.over) of.over = std::max(*of.over, max - std::min(max, got.present));
    }
    report_.limits.push_back(std::move(of));
  }
  return std::move(report_);
}

}  // namespace weir::simulate
