// The rate limit service door: gRPC over HTTP/2, as Envoy asks; with health and reflection for the tools around it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "door/access.h"
#include "door/desk.h"
#include "door/health.h"
#include "door/rls/rate_limit_service.h"
#include "engine/counters.h"
#include "net/session.h"
#include "weir/time.h"
#include "wire/http2/limits.h"

namespace weir::door {

struct RlsOptions {
  wire::http2::Limits limits;  // its body_bytes are the longest message
  Token token;                 // set: asked for, as x-weir-token or as a bearer token, of all but health
  Duration request_patience = std::chrono::seconds(10);  // for a request to be complete
};

// What its sessions on one loop share; they are gone before it.
class RlsDoor {
 public:
  RlsDoor(Desk& desk, const Health& health, RlsOptions options)
      : health_(health), options_(std::move(options)), rate_limits_(desk) {}

  [[nodiscard]] std::unique_ptr<net::Session> open(const net::Peer& peer, const net::Link& link);

  void change(RlsOptions options) { options_ = std::move(options); }

  // Calls since the start; from any thread.
  [[nodiscard]] std::uint64_t requests() const noexcept { return calls_.value(); }
  [[nodiscard]] const UnjudgedCounts& unjudged() const noexcept { return rate_limits_.counts(); }

 private:
  class Session;

  const Health& health_;
  RlsOptions options_;
  RateLimitService rate_limits_;
  engine::Count calls_;
};

}  // namespace weir::door
