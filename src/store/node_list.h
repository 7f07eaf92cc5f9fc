// The nodes that share a store, counted by their heartbeats: once a second each node writes a line about itself beside
// the lines of the others, and reads all of them (redis/heartbeat.h).
//
//  1. No clock of another machine is believed. A node is heard of when its line is another than at the last reading;
//     for how long it has been silent, this node's clock says.
//  2. A node counts until it has been silent for max_silence, or says that it leaves. A line that is gone without
//     that (the store was emptied, or knows less after a failover) is silence like any other.
//  3. Time passes only with answers of the store: while it is away the last count stands. When it is back, nodes that
//     were known have after_outage to find back to it: otherwise the first of them would take itself for the only one.
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

// What a node says about itself, in words of visible characters.
struct NodeFacts {
  std::string name;
  std::string version;
  std::string policy;  // the digest of the one that it runs

  friend bool operator==(const NodeFacts&, const NodeFacts&) = default;
};

struct Beat {
  NodeFacts facts;
  std::uint64_t number = 0;  // rises with every beat
  bool leaves = false;       // it is the node's last

  friend bool operator==(const Beat&, const Beat&) = default;
};

// `beat=17 name=web-1 version=0.1.0 policy=875f19a7...`, and `leaves=1` for the last. What is not visible becomes `_`.
[[nodiscard]] std::string beat_text(const Beat& beat);
// In any order. Words that are not known, as those of later versions, are passed over; what is missing is empty.
[[nodiscard]] Beat read_beat(std::string_view text);

// One thread takes, any thread reads.
class NodeList {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  // Three beats missed, and the time until this node looks again.
  static constexpr Duration max_silence = 4 * between_beats;
  // The longest wait of a breaker before it tries again, and the same.
  static constexpr Duration after_outage = 9 * between_beats;
  // More are not kept.
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

  // `id` differs for all processes. `until_counted` is the count before there is one; at least 1.
  NodeList(std::string id, std::uint32_t until_counted);

  [[nodiscard]] const std::string& id() const noexcept { return id_; }

  // All lines, this node's too, as the store told them in answer to a beat.
  void take(std::span<const Line> lines, SteadyTime now);

  [[nodiscard]] std::uint32_t count() const noexcept { return count_.load(std::memory_order_relaxed); }
  // Whether the store has answered.
  [[nodiscard]] bool is_counted() const noexcept { return is_counted_.load(std::memory_order_relaxed); }
  // Those that count, by name. None before the first answer.
  [[nodiscard]] std::vector<Node> nodes(SteadyTime now) const;

 private:
  // Kept for as long as the store has its line: otherwise one that is dead would be taken for a new one.
  struct Known {
    std::string text;
    NodeFacts facts;
    SteadyTime heard;
    SteadyTime until;  // then it does not count any more
    SteadyTime told;   // by the store, whether the line was another or not
  };

  void hear(const Line& line, SteadyTime now);
  [[nodiscard]] bool counts(const std::string& id, const Known& node) const noexcept {
    return id == id_ || node.until > answered_at_;
  }

  const std::string id_;
  std::atomic<std::uint32_t> count_;
  std::atomic<bool> is_counted_ = false;

  mutable std::mutex mutex_;  // guards what follows
  std::map<std::string, Known, std::less<>> known_;
  SteadyTime answered_at_{};  // the last time
};

}  // namespace weir::store
