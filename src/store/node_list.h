// The nodes that share a store, counted by heartbeats: once per second each node writes a line about itself and reads
// the lines of all nodes (redis/heartbeat.h).
//
//  1. Clocks of other machines are not trusted. A node is alive if its line has changed since the last reading; its
//     silence is measured by this node's clock.
//  2. A node counts until it has been silent for max_silence or announces that it leaves. A line that disappears
//     without such an announcement (the store was emptied, or lost data in a failover) counts as silence.
//  3. Time advances only with the store's answers: while it is unavailable, the last count stays. After that, known
//     nodes have after_outage to reconnect; otherwise the first one back would take itself for the only node.
//  4. This node always counts.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weir/time.h"

namespace weir::store {

inline constexpr Duration between_beats = std::chrono::seconds(1);

// A node's description of itself. Its values consist of visible characters.
struct NodeFacts {
  std::string name;
  std::string version;
  std::string policy;  // the digest of its active policy

  friend bool operator==(const NodeFacts&, const NodeFacts&) = default;
};

struct Beat {
  NodeFacts facts;
  std::uint64_t number = 0;  // increases with every beat
  bool leaves = false;       // the node's last beat

  friend bool operator==(const Beat&, const Beat&) = default;
};

// `beat=17 name=web-1 version=0.2.0 policy=875f19a7...`, and `leaves=1` in the last beat. Characters that are not
// allowed become `_`.
[[nodiscard]] std::string beat_text(const Beat& beat);
// Accepts words in any order. Unknown words, such as those of later versions, are ignored; missing ones are empty.
[[nodiscard]] Beat read_beat(std::string_view text);

// take() is called by one thread; the others by any thread.
class NodeList {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  // Three missed beats, plus the time until this node reads again.
  static constexpr Duration max_silence = 4 * between_beats;
  // The maximum time that a breaker waits before it probes, plus max_silence.
  static constexpr Duration after_outage = 9 * between_beats;
  // The maximum number of nodes; others are ignored.
  static constexpr std::size_t max_nodes = 4'096;

  struct Line {
    std::string_view id;
    std::string_view text;
  };
  struct Node {
    NodeFacts facts;
    Duration silent{};
    bool is_self = false;

    [[nodiscard]] bool differs(std::string_view policy) const noexcept { return !is_self && facts.policy != policy; }
  };

  // `id` is unique per process. `until_counted`, at least 1, is the count before the first answer.
  NodeList(std::string id, std::uint32_t until_counted);

  [[nodiscard]] const std::string& id() const noexcept { return id_; }

  // Reads all lines, including this node's own, from the store's reply to a beat.
  void take(std::span<const Line> lines, SteadyTime now);

  [[nodiscard]] std::uint32_t count() const noexcept { return count_.load(std::memory_order_relaxed); }
  // True once the store has answered.
  [[nodiscard]] bool is_counted() const noexcept { return is_counted_.load(std::memory_order_relaxed); }
  // The counted nodes, by name. Empty before the first answer.
  [[nodiscard]] std::vector<Node> nodes(SteadyTime now) const;

 private:
  // A node is remembered as long as the store has its line; otherwise a dead node would be taken for a new one.
  struct Known {
    std::string text;
    NodeFacts facts;
    SteadyTime last_seen;
    SteadyTime until;          // the node counts until then
    SteadyTime last_returned;  // when the store last returned the line, changed or not
  };

  void update(const Line& line, SteadyTime now);
  [[nodiscard]] bool counts(const std::string& id, const Known& node) const noexcept {
    return id == id_ || node.until > answered_at_;
  }

  const std::string id_;
  std::atomic<std::uint32_t> count_;
  std::atomic<bool> is_counted_ = false;

  mutable std::mutex mutex_;  // guards the members below
  std::map<std::string, Known, std::less<>> known_;
  SteadyTime answered_at_{};  // the last answer
};

}  // namespace weir::store
