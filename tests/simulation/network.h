// The connection of one node to the store: delays, losses, duplicates and reordering. A group whose answer does not
// arrive within the timeout has failed; it may have been applied, and may still be.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/simulation/node.h"
#include "tests/simulation/simulated_store.h"

namespace weir::simulation {

// A group in transit, separate from the node's, which may be reused.
struct Packet {
  explicit Packet(const store::Group& of, Micros at, Micros ticks) : group(of), sent_at(at), sent_ticks(ticks) {
    for (store::Check& check : group.checks) {
      check.extension = store::copy_of(check.extension, extensions);
      has_messages = has_messages || check.message() != nullptr;
    }
    windows.resize(group.checks.size());
  }
  Packet(const Packet& other) : Packet(other.group, other.sent_at, other.sent_ticks) { id = other.id; }
  Packet& operator=(const Packet&) = delete;

  std::uint64_t id = 0;
  store::Group group;
  std::deque<store::OwnExtension> extensions;
  bool has_messages = false;
  Micros sent_at;
  Micros sent_ticks;
  StoreTime applied;
  std::vector<Micros> windows;  // of the granted slices
};

class Network final : public store::Store {
 public:
  struct World {
    const Plan& plan;
    EventQueue& queue;
    Random& random;
    Mutant mutant;
    // At the store, and back at the node just before its group is answered.
    std::function<void(Node&, Packet&)> apply;
    std::function<void(const Packet&)> answers;
  };

  explicit Network(World& world) : world_(world) {}
  void connect(Node& node) { node_ = &node; }

  using Store::submit;
  void submit(store::Batch batch) override {
    for (store::Group* const group : batch) {
      if (world_.queue.now() < node_->away_until) {
        fail(*group, store::Failure::unavailable);
      } else {
        send(*group);
      }
    }
  }

  // Work of the node: not while it is stopped, and never after its end.
  static void at_node(EventQueue& queue, Node& node, Micros at, EventQueue::Work work) {
    queue.at(at, [&queue, &node, work = std::move(work)] {
      if (!node.is_alive) return;
      if (queue.now() < node.stopped_until) return at_node(queue, node, node.stopped_until, work);
      work();
    });
  }

 private:
  void send(store::Group& group) {
    auto packet = std::make_shared<Packet>(group, world_.queue.now(), node_->ticks());
    packet->id = ++last_id_;
    waiting_[packet->id] = &group;
    for (const store::Check& check : packet->group.checks) {
      if (check.message() == nullptr) continue;
      node_->spent[check.key] = 0;
      if (world_.mutant == Mutant::used_counted_twice) report_again(check);
    }
    at_node(world_.queue, *node_, world_.queue.now() + world_.plan.timeout, [this, id = packet->id] {
      const auto found = waiting_.find(id);
      if (found == waiting_.end()) return;
      store::Group& late = *found->second;
      waiting_.erase(found);
      fail(late, store::Failure::timeout);
    });
    if (packet->has_messages && is_bad() && world_.random.chance(world_.plan.network.doubled)) {
      carry(std::make_shared<Packet>(*packet));
    }
    carry(std::move(packet));
  }

  // Adds to a message what unanswered ones have reported.
  void report_again(const store::Check& check) {
    Reported& of = reported_[check.key];
    core::SliceMessage& message = check.message()->message;
    if (of.is_unanswered) of.again += of.used - of.answered;
    of.used = message.used;
    of.is_unanswered = true;
    message.used += of.again;
  }

  void carry(std::shared_ptr<Packet> packet) {
    if (is_lost()) return;
    world_.queue.after(delay(), [this, packet = std::move(packet)] {
      world_.apply(*node_, *packet);
      if (is_lost()) return;
      at_node(world_.queue, *node_, world_.queue.now() + delay(), [this, packet] { arrive(*packet); });
    });
  }

  void arrive(const Packet& packet) {
    const auto found = waiting_.find(packet.id);
    if (found == waiting_.end()) return;
    store::Group& group = *found->second;
    waiting_.erase(found);
    for (std::size_t i = 0; i < group.checks.size(); ++i) {
      const store::Check& told = packet.group.checks[i];
      store::Check& check = group.checks[i];
      check.decision = told.decision;
      if (told.message() == nullptr) continue;
      check.message()->answer = told.message()->answer;
      reported_[check.key].is_unanswered = false;
      reported_[check.key].answered = reported_[check.key].used;
      core::SliceAnswer& answer = check.message()->answer;
      if (answer.units > 0) node_->slice_windows[check.key] = packet.windows[i];
      if (world_.mutant == Mutant::time_from_answer) {
        answer.lasts += Duration{(node_->ticks() - packet.sent_ticks) / 3 * 4};
      }
      if (world_.mutant == Mutant::total_taken_unspent && answer.units > 0) answer.units += node_->spent[check.key];
    }
    group.failure = store::Failure::none;
    group.decided = packet.group.decided;
    group.admitted = packet.group.admitted;
    group.now = packet.group.now;
    world_.answers(packet);
    (void)node_->store();  // reads its clocks
    group.callback->answered(group);
  }

  static void fail(store::Group& group, store::Failure failure) {
    group.failure = failure;
    group.decided = group.admitted = false;
    group.callback->answered(group);
  }

  [[nodiscard]] bool is_bad() const noexcept { return world_.queue.now() < world_.plan.quiet_at; }
  [[nodiscard]] bool is_lost() {
    return world_.queue.now() < node_->lost_until || (is_bad() && world_.random.chance(world_.plan.network.lost));
  }
  [[nodiscard]] Micros delay() {
    if (is_bad() && world_.random.chance(world_.plan.network.late)) {
      return world_.random.between(0, world_.plan.lease * 3 / 2);
    }
    const Micros longest = world_.plan.network.max_delay;
    return world_.random.between(50, is_bad() ? longest : std::min<Micros>(longest, 1'000));
  }

  // What messages about one key have reported, for a mutant.
  struct Reported {
    std::uint64_t used = 0;
    std::uint64_t answered = 0;
    std::uint64_t again = 0;
    bool is_unanswered = false;
  };

  World& world_;
  Node* node_ = nullptr;
  std::map<std::string, Reported> reported_;
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, store::Group*> waiting_;
};

}  // namespace weir::simulation
