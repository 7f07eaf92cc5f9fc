// Says once a second, in the store, that this node is there, and reads who else is: one hash with a line for each node,
// written and read by one short script, over the connections that decide.
//
// The hash has one key, so it is in one slot of a cluster. Lines that nobody writes any more are removed by the node
// that beats next, by the store's clock; the whole expires with the last node.
//
// A beat that fails is no failure of the store: it is counted, the list stands as it is, and the next one is tried a
// second later. Nothing waits for a beat.
//
// On the loop's thread, or while the loop does not run. The store outlives it, unless the loop will not run any more.
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
  base::Counter failed;  // with those that could not be sent
};

class Heartbeat {
 public:
  struct Options {
    std::string key;                                              // of the hash
    std::function<NodeFacts()> facts;                             // of this node, now
    std::function<void(std::uint32_t nodes)> on_count = nullptr;  // when it is another
    // One line, when beats begin to be refused, and when they are not any more.
    std::function<void(News news, const std::string& line)> log = nullptr;
  };

  // `prefix` is that of all keys.
  [[nodiscard]] static std::string key(std::string_view prefix) { return std::string(prefix) + "{nodes}"; }

  // `list` and `counts` outlive it.
  Heartbeat(net::Loop& loop, RedisStore& store, NodeList& list, HeartbeatCounts& counts, Options options);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  // Sends the first beat now, unless it was sent.
  void begin();
  // The last beat, which says so; others need not wait for this node then.
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
  std::uint32_t told_ = 0;  // the count; 0: none yet
  bool in_flight_ = false;
  bool is_refused_ = false;
  std::shared_ptr<Heartbeat*> self_;  // null inside: replies find it gone
};

}  // namespace weir::store::redis
