// The parts of a run: demand, faults, checks. Included by simulation.h.
#pragma once

#include <algorithm>
#include <cmath>

#include "tests/simulation/simulation.h"

namespace weir::simulation {

inline std::optional<std::string> Simulation::run() {
  nodes_.resize(plan_.nodes);
  for (std::size_t i = 0; i < plan_.nodes; ++i) start_node(i);
  for (const FaultPlan& fault : plan_.faults) queue_.at(fault.at, [this, &fault] { begin(fault); });
  for (Micros at = 0; at < plan_.quiet_at; at += plan_.lease / 3) queue_.at(at, [this] { store_.take_snapshot(); });
  queue_.at(plan_.quiet_at, [this] { exact_ = store_.states(); });
  queue_.at(plan_.measured_from, [this] { out_at_start_ = out(); });
  queue_.at(plan_.idle_at, [this] { out_at_end_ = out(); });
  ask_on();
  queue_.run_until(plan_.ends_at);
  check_bounds();
  check_utilisation();
  check_end();
  return failure_;
}

// Demand

inline void Simulation::ask_on() {
  if (queue_.now() >= plan_.idle_at) return;
  const double gap = 1e6 / plan_.requests_per_second;
  const std::int64_t at_once = plan_.shape == Shape::bursty ? random_.between(1, 60) : 1;
  for (std::int64_t i = 0; i < at_once; ++i) {
    const auto place = static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(plan_.nodes) - 1));
    Node* const node = nodes_[place];
    const std::size_t key = choose_key();
    const auto cost = static_cast<std::uint64_t>(random_.between(1, plan_.dearest));
    if (node == nullptr || !node->takes_requests) continue;
    Network::at_node(queue_, *node, queue_.now(), [this, node, key, cost] { ask(*node, key, cost); });
  }
  const double wait = -std::log(1 - random_.part()) * gap * static_cast<double>(at_once);
  queue_.after(static_cast<Micros>(wait) + 1, [this] { ask_on(); });
}

inline std::size_t Simulation::choose_key() {
  const auto keys = static_cast<double>(plan_.keys);
  if (plan_.shape == Shape::skewed) return static_cast<std::size_t>(keys * std::pow(random_.part(), 3));
  const auto hot = static_cast<std::size_t>(queue_.now() / (2 * plan_.lease)) % plan_.keys;
  if (plan_.shape == Shape::moving && random_.chance(0.8)) return hot;
  return static_cast<std::size_t>(keys * random_.part());
}

inline void Simulation::ask(Node& node, std::size_t key, std::uint64_t cost) {
  if (!node.takes_requests) return;
  ++sums_.asked;
  Request& request = *requests_.emplace_back(std::make_unique<Request>(*this, node));
  request.key = key;
  request.version = version_;
  request.asked = store_.time(queue_.now());
  request.asked_by_store = store_.clock(queue_.now());
  request.callback = &request;
  request.fallback = store::Fallback::by_limit;
  const bool looks = random_.chance(0.02);
  if (looks) request.operation = store::Operation::look;
  const std::size_t limits = random_.chance(plan_.both) ? 2 : 1;
  for (std::size_t i = 0; i < limits; ++i) {
    const NodeLimit& limit = *node.limits[i];
    store::Check& check = request.checks.emplace_back();
    check.states = &limit.states;
    check.rule = &limit.states.rule;
    check.hash = hash_of(key);
    check.key = shared_key(i, key);
    check.cost = Cost{cost};
    request.slice_windows.push_back(node.slice_windows[check.key]);
  }
  node.store().submit(request);
}

// False for decisions by the old numbers after new ones apply.
inline bool Simulation::is_counted(const Request& request, const StoreTime& decided) const noexcept {
  return request.version == version_ || (request.version + 1 == version_ && decided.order < reloaded_.order);
}

inline void Simulation::note_answer(Request& request) {
  request.is_answered = true;
  const Micros waited = queue_.now() - request.asked.at;
  if (waited > plan_.timeout && request.node.last_stop < request.asked.at) {
    fail("a decision took " + std::to_string(waited) + " us", static_cast<int>(request.key), queue_.now());
  }
  if (request.operation != store::Operation::decide) return;
  const store::Path path = request.checks[0].path;
  const bool is_alone = request.checks.size() == 1;
  if (is_alone && kind_ == Consistency::approximate && path != store::Path::store && waited > 0 && allowance(0) > 0 &&
      request.node.last_stop < request.asked.at && path == store::Path::approximate) {
    fail("an approximate decision waited for " + std::to_string(waited) + " us", static_cast<int>(request.key),
         queue_.now());
  }
  if (kind_ == Consistency::approximate && path == store::Path::share && queue_.now() >= plan_.measured_from) {
    fail("a share of an approximate limit is spent while the store is well", static_cast<int>(request.key),
         queue_.now());
  }
  trace_.add({queue_.now(), request.admitted ? "is admitted" : "is denied", request.node.index,
              static_cast<int>(request.key),
              std::to_string(request.checks[0].cost.units()) + " by " +
                  std::to_string(static_cast<int>(request.checks[0].path))});
  if (!request.decided || !request.admitted) return;
  for (std::size_t i = 0; i < request.checks.size(); ++i) {
    const store::Check& check = request.checks[i];
    const std::uint64_t units = check.cost.units();
    if (check.path == store::Path::slice || check.path == store::Path::approximate) {
      sums_.on_slices += units;
      request.node.spent[check.key] += units;
      request.node.spent_in_all[check.key] += units;
      // It must belong to the window in which it is spent.
      const Micros length = numbers_[i].rate().per.count();
      const Micros present = core::window_start(core::micros(request.asked_by_store), length);
      const Micros window = std::max(request.slice_windows[i], present);
      if (is_counted(request, request.asked)) bound(i, request.key).admit(request.asked, units, window);
    } else if (check.path == store::Path::store) {
      sums_.by_store += units;
      const Micros length = numbers_[i].rate().per.count();
      const Micros window = core::window_start(core::micros(check.decision.charged_at), length);
      if (is_counted(request, applied_)) bound(i, request.key).admit(applied_, units, window);
    } else {
      sums_.by_outage_rules += units;
    }
  }
}

// Faults

inline void Simulation::begin(const FaultPlan& fault) {
  static constexpr const char* names[] = {
      "is cut off", "is disconnected",  "is stopped",       "is paused",   "is paused long",  "crashes",
      "shuts down", "store is emptied", "store fails over", "clock leaps", "clock leaps far", "clock steps back",
      "reload"};
  trace_.add({queue_.now(), names[static_cast<std::size_t>(fault.fault)], static_cast<int>(fault.node), -1,
              std::to_string(fault.lasts) + " us"});
  Node* const node = nodes_[fault.node];
  const Micros until = queue_.now() + fault.lasts;
  switch (fault.fault) {
    case Fault::store_emptied:
      return lose_states(true);
    case Fault::store_failed_over:
      return lose_states(false);
    case Fault::leapt:
    case Fault::leapt_far:
      return leap(fault.lasts);
    case Fault::stepped_back:
      return leap(-fault.lasts);
    case Fault::reloaded:
      return reload();
    default:
      break;
  }
  if (node == nullptr || !node->takes_requests) return;
  switch (fault.fault) {
    case Fault::cut_off:
      node->lost_until = until;
      break;
    case Fault::disconnected:
      node->away_until = until;
      break;
    case Fault::stopped:
      node->stopped_until = node->last_stop = std::max(node->stopped_until, until);
      break;
    case Fault::paused:
      pause(*node, fault.lasts, true);
      break;
    case Fault::paused_long:
      pause(*node, fault.lasts, false);
      break;
    case Fault::crashed:
      node->is_alive = false;
      end_node(fault.node, fault.lasts);
      break;
    default:
      node->store().give_back_all();
      end_node(fault.node, fault.lasts);
      break;
  }
}

inline void Simulation::start_node(std::size_t place) {
  Network& network = *networks_.emplace_back(std::make_unique<Network>(world_));
  Node& node =
      *all_nodes_.emplace_back(std::make_unique<Node>(plan_, static_cast<int>(place), random_, network, queue_));
  network.connect(node);
  if (queue_.now() > 0) {
    for_each_key([&](std::size_t limit, std::size_t key) {
      bound(limit, key).add_credit(store_.time(queue_.now()), allowance(limit));
    });
  }
  node.load(plan_, numbers_);
  nodes_[place] = &node;
  const auto tick = [this, &node](const auto& again) -> void {
    node.store().tick();
    Network::at_node(queue_, node, queue_.now() + plan_.lease / 50, [again] { again(again); });
  };
  Network::at_node(queue_, node, queue_.now() + random_.between(0, plan_.lease / 50), [tick] { tick(tick); });
}

inline void Simulation::end_node(std::size_t place, Micros down) {
  nodes_[place]->takes_requests = false;
  ended_.emplace_back(nodes_[place], queue_.now());
  nodes_[place] = nullptr;
  queue_.after(down, [this, place] { start_node(place); });
}

// Credits what a node has out, and is granted while it does not notice that time passes. A slice that ends with its
// window is shorter than a lease, and tolerates at most a quarter of that.
inline void Simulation::pause(Node& node, Micros lasts, bool is_covered) {
  node.stopped_until = node.last_stop = std::max(node.stopped_until, queue_.now() + lasts);
  node.clock_lost += lasts;
  if (!is_covered) node.not_covered_until = node.stopped_until;
  for_each_key([&](std::size_t limit, std::size_t key) {
    if (is_covered && is_bucket(limit)) return;
    for (const core::Slice& slice : store_.ledger(shared_key(limit, key)).slices) {
      if (slice.holder - node.holder->id < node.holder->tables)
        bound(limit, key).add_credit(store_.time(queue_.now()), slice.units);
    }
  });
}

inline void Simulation::leap(Micros by) {
  if (by > 0) {
    for_each_key([&](std::size_t limit, std::size_t key) {
      if (by <= plan_.lease / 5 && is_bucket(limit)) return;
      bound(limit, key).add_credit(store_.time(queue_.now()), store_.ledger(shared_key(limit, key)).totals.units);
    });
  }
  if (by < 0) {
    stepped_back_ -= by;
    const StoreTime now = store_.time(queue_.now());
    for_each_key([&](std::size_t limit, std::size_t key) {
      bound(limit, key).step_back(now);
      bound(limit, key).add_credit(now, plan_.nodes * allowance(limit));
      // A counter's slices belong to no window: units granted in a later window are spent in an earlier one.
      const bool is_counter = numbers_[limit].algorithm() == Algorithm::sliding_window_counter;
      if (is_counter) bound(limit, key).add_credit(now, store_.ledger(shared_key(limit, key)).totals.units);
    });
  }
  store_.leap(queue_.now(), by);
}

inline void Simulation::lose_states(bool all) {
  for_each_key([&](std::size_t limit, std::size_t key) {
    const std::string name = shared_key(limit, key);
    const std::uint64_t lost = all ? store_.ledger(name).totals.units : store_.lost_by_failover(name);
    bound(limit, key).add_credit(store_.time(queue_.now()), lost);
    if (all) bound(limit, key).forget(store_.time(queue_.now()));
  });
  all ? store_.empty() : store_.fail_over();
  forgot_at_ = queue_.now();
}

inline void Simulation::reload() {
  ++version_;
  std::vector<std::uint64_t> unasked;  // what nodes may have spent by the old numbers, or may spend by the new ones
  for (std::size_t i = 0; i < numbers_.size(); ++i) unasked.push_back(allowance(i));
  for (std::size_t i = 0; i < numbers_.size(); ++i) {
    numbers_[i] = version_ % 2 == 0 ? plan_.limits[i].limit : plan_.reloaded[i];
  }
  reloaded_ = store_.time(queue_.now());
  for_each_key([&](std::size_t limit, std::size_t key) {
    bound(limit, key).renumber(reloaded_, most(limit), allowance(limit) > 0);
    bound(limit, key).add_credit(reloaded_, plan_.nodes * std::max(unasked[limit], allowance(limit)));
  });
  for (Node* const node : nodes_) {
    if (node != nullptr) node->load(plan_, numbers_);
  }
}

// Invariants

inline void Simulation::make_bounds() {
  for_each_key([&](std::size_t limit, std::size_t key) { bounds_.emplace(shared_key(limit, key), most(limit)); });
}

inline std::uint64_t Simulation::allowance(std::size_t limit) const noexcept {
  if (plan_.limits[limit].consistency != Consistency::approximate) return 0;
  return numbers_[limit].capacity() / (4 * plan_.nodes);
}

inline Limit Simulation::most(std::size_t limit) const {
  const Limit& numbers = numbers_[limit];
  const std::uint64_t unasked = plan_.nodes * allowance(limit);
  if (unasked == 0) return numbers;
  return make_limit(numbers.algorithm(), numbers.capacity() + unasked, core::time_to_fill(numbers).count());
}

inline void Simulation::check_applied(Node& node, Packet& packet) {
  const Micros now = queue_.now();
  store_.apply(packet.group, now);
  packet.applied = store_.time(now);
  for (std::size_t i = 0; i < packet.group.checks.size(); ++i) {
    const store::Check& check = packet.group.checks[i];
    const auto limit = static_cast<std::size_t>(check.key[0] - '0');
    const auto key = static_cast<std::size_t>(check.key[2] - '0');
    const core::Ledger& ledger = store_.ledger(check.key);
    if (check.message() != nullptr) {
      const core::SliceMessage& said = check.message()->message;
      const core::SliceAnswer& answer = check.message()->answer;
      const auto slice = std::ranges::find(ledger.slices, said.holder, &core::Slice::holder);
      if (slice != ledger.slices.end()) {
        // A counter's units count where they are spent, but not earlier than where they were granted.
        const bool is_counter = numbers_[limit].algorithm() == Algorithm::sliding_window_counter;
        const Micros length = numbers_[limit].rate().per.count();
        packet.windows[i] =
            is_counter ? core::window_start(core::micros(store_.clock(now)), length) : ledger.totals.window;
      }
      std::uint64_t reported = 0;
      for (std::uint64_t table = 0; table < node.holder->tables; ++table) {
        reported += store_.reported(check.key, node.holder->id + table);
      }
      // What a group of two limits spends and cannot put back is reported, too; and a message that is overtaken, or
      // arrives twice, can start a slice again.
      const bool is_orderly = plan_.both == 0 && plan_.network.doubled == 0 && plan_.network.late == 0;
      if (reported > node.spent_in_all[check.key] && forgot_at_ < 0 && is_orderly) {
        fail("a node has reported " + std::to_string(reported) + " units as used, and spent " +
                 std::to_string(node.spent_in_all[check.key]),
             static_cast<int>(key), now);
      }
      if (now < node.not_covered_until) bound(limit, key).add_credit(packet.applied, answer.units);
      trace_.add({now, answer.taken ? "is accepted" : "is rejected", node.index, static_cast<int>(key),
                  !trace_.prints()
                      ? ""
                      : "limit " + std::to_string(limit) + ", message " + std::to_string(said.number) + ", keeps " +
                            std::to_string(said.keep) + ", used " + std::to_string(said.used) + ", wants " +
                            std::to_string(said.want) + "; has " + std::to_string(answer.units) + ", expired " +
                            std::to_string(answer.expired) + ", left " + std::to_string(answer.left)});
    }
    if (packet.group.operation == store::Operation::settle && packet.sent_at - plan_.timeout <= forgot_at_) {
      bound(limit, key).add_credit(packet.applied, check.cost.units());
    }
    if (!store_.is_balanced(check.key)) {
      fail("the ledger holds " + std::to_string(ledger.totals.units) + " units, by the messages " +
               std::to_string(store_.accounts()[check.key].held()),
           static_cast<int>(key), now);
    }
    const auto ended_lately = std::ranges::count_if(
        ended_, [&](const auto& one) { return now - one.second < 4 * plan_.lease + stepped_back_; });
    if (ledger.slices.size() > (plan_.nodes + static_cast<std::size_t>(ended_lately)) * (version_ + 1)) {
      fail("a ledger has " + std::to_string(ledger.slices.size()) + " slices", static_cast<int>(key), now);
    }
  }
}

inline void Simulation::check_bounds() {
  for_each_key([&](std::size_t limit, std::size_t key) {
    if (const auto excess = bound(limit, key).first_excess()) {
      fail("limit " + std::to_string(limit) + " (" + std::string(name_of(numbers_[limit].algorithm())) + ", " +
               std::to_string(numbers_[limit].capacity()) + ") admits " + std::to_string(excess->units) + " too many",
           static_cast<int>(key), excess->at);
    }
  });
}

// What exact limits would have admitted since the faults ended, from what the store knew then, without network delays.
// For windows, whole ones. Units of a bucket that are out at the end are not wasted.
inline void Simulation::check_utilisation() {
  if (numbers_[0].capacity() < 100) return;
  // A request for more than an allowance is denied at first.
  if (kind_ == Consistency::approximate && allowance(0) < static_cast<std::uint64_t>(plan_.dearest)) return;
  std::uint64_t by_exact = 0;
  std::uint64_t by_nodes = is_bucket(0) ? out_at_end_ - std::min(out_at_end_, out_at_start_) : 0;
  for (const auto& request : requests_) {
    if (request->asked.at < plan_.quiet_at || request->operation != store::Operation::decide) continue;
    store::Group same;
    same.checks = request->checks;
    for (store::Check& check : same.checks) check.extension = nullptr;
    exact_.decide(same, request->asked_by_store);
    if (!is_measured(*request)) continue;
    const std::uint64_t units = same.checks[0].cost.units();
    by_exact += same.admitted ? units : 0;
    by_nodes += request->admitted ? units : 0;
  }
  if (by_exact < 100) return;
  sums_.utilisation = static_cast<double>(by_nodes) / static_cast<double>(by_exact);
  if (sums_.utilisation < min_utilisation()) {
    fail("of what exact admits " + std::to_string(sums_.utilisation) + " is used", -1, plan_.idle_at);
  }
}

inline bool Simulation::is_measured(const Request& request) const {
  const Micros at = request.asked.at;
  if (is_bucket(0)) return at >= plan_.measured_from;
  const Micros length = numbers_[0].rate().per.count();
  const Micros now = core::micros(request.asked_by_store);
  const Micros begins = at - (now - core::window_start(now, length));
  return begins >= plan_.measured_from && begins + length <= plan_.idle_at;
}

// For steady demand on one limit. Units that nodes hold when a window ends are lost, which matters if demand is about
// as large as the limit. If demand is bursty, moves or uses two limits, or if a window is hardly longer than a slice,
// denials while others hold units (at most their slices, for a lease) matter more. So does, for an approximate counter,
// what is regained in the last part of a window.
inline double Simulation::min_utilisation() const {
  const bool is_steady = plan_.shape == Shape::steady || plan_.shape == Shape::skewed;
  const bool is_counter = numbers_[0].algorithm() == Algorithm::sliding_window_counter;
  if (kind_ == Consistency::approximate && (!is_steady || plan_.both > 0 || is_counter)) return 0.3;
  if (!is_steady || plan_.both > 0) return 0.7;
  if (is_bucket(0)) return 0.95;
  return numbers_[0].rate().per.count() >= 2 * plan_.lease ? 0.9 : 0.7;
}

inline std::uint64_t Simulation::out() {
  std::uint64_t sum = 0;
  for (const Node* node : nodes_) {
    if (node->limits[0]->slices) sum += node->limits[0]->slices->out().units;
  }
  return sum;
}

inline void Simulation::check_end() {
  for (const auto& request : requests_) {
    if (!request->is_answered && request->node.is_alive) {
      return fail("a decision was never answered", static_cast<int>(request->key), request->asked.at);
    }
  }
  for (const auto& node : all_nodes_) {
    for (const NodeLimit* limit : node->limits) {
      if (node->is_alive && limit->slices && limit->slices->out().units > 0) {
        return fail("units are out without demand", -1, queue_.now());
      }
    }
  }
  for (const auto& [name, account] : store_.accounts()) {
    const auto& slices = store_.ledger(name).slices;
    const Micros now = core::micros(store_.clock(queue_.now()));
    if (std::ranges::any_of(slices, [&](const core::Slice& slice) { return slice.until > now; })) {
      return fail("the store has leased units without demand", -1, queue_.now());
    }
  }
}

inline void Simulation::fail(const std::string& what, int key, Micros at) {
  if (failure_) return;
  failure_ = what + " (key " + std::to_string(key) + ", " + std::to_string(at) + " us)\n" + trace_.last(key, at);
}

}  // namespace weir::simulation
