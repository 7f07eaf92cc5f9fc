// Registers this node in the store once per second and reads the other nodes: one hash with a line per node, written
// and read by one short script over the connections that decide.
//
// The hash is one key, so it is in one slot of a cluster. The next node that beats removes lines that are stale by the
// store's clock; the hash expires after the last node.
//
// A failed beat does not count as a failure of the store: it is counted, the list stays unchanged, and the next beat is
// sent a second later. Nothing waits for a beat.
//
// Used on the loop's thread, or while the loop does not run. The store must outlive it, or the loop must not run again.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/counter.h"
#include "net/loop.h"
#include "net/timer.h"
#include "store/node_list.h"
#include "store/redis/redis_options.h"
#include "store/redis/redis_store.h"
#include "wire/resp/reply_parser.h"

namespace weir::store::redis {

// The loop's thread writes, any thread reads.
struct HeartbeatCounts {
  base::Counter sent;
  base::Counter failed;  // including beats that could not be sent
};

class Heartbeat {
 public:
  struct Options {
    std::string key;                                              // key of the hash
    std::function<NodeFacts()> facts;                             // returns the current facts about this node
    std::function<void(std::uint32_t nodes)> on_count = nullptr;  // called when the count changes
    // Receives one line when beats start to fail, and one when they succeed again.
    std::function<void(Severity severity, const std::string& line)> log = nullptr;
  };

  // `prefix` is the common prefix of all keys.
  [[nodiscard]] static std::string key(std::string_view prefix) { return std::string(prefix) + "{nodes}"; }

  // `list` and `counts` must outlive this object.
  Heartbeat(net::Loop& loop, RedisStore& store, NodeList& list, HeartbeatCounts& counts, Options options);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  // Sends the first beat now, unless it was already sent.
  void begin();
  // Sends the last beat, which announces that the node leaves; other nodes stop counting it at once.
  void leave();

 private:
  void beat();
  [[nodiscard]] bool send(bool leaves);
  void take(const wire::resp::Reply* reply);
  void refused(std::string_view error);

  RedisStore& store_;
  NodeList& list_;
  HeartbeatCounts& counts_;
  const Options options_;
  net::Timer timer_;
  net::SteadyTime due_;
  std::uint64_t number_ = 0;
  std::uint32_t reported_count_ = 0;  // 0: none yet
  bool in_flight_ = false;
  bool is_refused_ = false;
  std::shared_ptr<Heartbeat*> self_;  // points to null after destruction; late replies test that
};

}  // namespace weir::store::redis
