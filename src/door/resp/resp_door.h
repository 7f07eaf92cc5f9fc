// The door for those who speak the Redis protocol: CL.THROTTLE as redis-cell defines it, WEIR.CHECK, WEIR.PEEK and
// WEIR.RESET on the limits of the policy, and of Redis's own commands those that its clients send by themselves.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "door/access.h"
#include "door/desk.h"
#include "door/pool.h"
#include "door/resp/heard_commands.h"
#include "door/resp/throttle_batch.h"
#include "door/resp/throttle_counts.h"
#include "door/resp/throttle_limits.h"
#include "engine/counters.h"
#include "net/session.h"
#include "store/local/throttle_table.h"
#include "wire/resp/command_parser.h"

namespace weir::door {

// Tokens are shown by AUTH, or by HELLO's AUTH; any user name goes with them.
struct RespOptions {
  wire::resp::CommandLimits limits;
  Token token;        // set: asked for, of whoever wants a decision
  Token admin_token;  // gives the right to reset as well; where there is none, nobody has it
};

// What its sessions on one loop share; they are gone before it. `throttles` holds the states of CL.THROTTLE, of all
// loops alike; with a shared store, while that is away.
class RespDoor {
 public:
  RespDoor(Desk& desk, store::ThrottleTable& throttles, RespOptions options)
      : desk_(desk), throttles_(throttles), options_(std::move(options)), batch_(throttles, throttle_counts_) {}

  [[nodiscard]] std::unique_ptr<net::Session> open(const net::Peer& peer, const net::Link& link);

  // Who has shown a token that was good stays.
  void change(RespOptions options) { options_ = std::move(options); }

  // Commands since the start; from any thread.
  [[nodiscard]] std::uint64_t requests() const noexcept { return commands_.value(); }

  // What CL.THROTTLE has answered; from any thread.
  [[nodiscard]] const ThrottleCounts& throttle_counts() const noexcept { return throttle_counts_; }

 private:
  class Session;

  Desk& desk_;
  store::ThrottleTable& throttles_;
  RespOptions options_;
  ThrottleLimits throttle_limits_;
  ThrottleCounts throttle_counts_;
  ThrottleBatch batch_;
  Pool<HeardCommands> heard_;
  engine::Count commands_;
};

}  // namespace weir::door
