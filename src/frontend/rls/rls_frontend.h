// The rate limit service frontend: gRPC over HTTP/2 for Envoy, with the quota service, health checking and server
// reflection.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/counter.h"
#include "frontend/access.h"
#include "frontend/frontend.h"
#include "frontend/loop_context.h"
#include "frontend/rls/quota_service.h"
#include "frontend/rls/quotas.h"
#include "frontend/rls/rate_limit_service.h"
#include "weir/time.h"
#include "wire/http2/exchange.h"

namespace weir::frontend {

struct RlsOptions {
  wire::http2::Limits limits;  // body_bytes is the maximum message size
  Token token;                 // if set, required by all services but health, in x-weir-token or as a bearer token
  Duration request_timeout = std::chrono::seconds(10);  // for a complete request
};

class RlsFrontend final : public FrontendWith<RlsOptions> {
 public:
  // All frontends of the process share `quotas`.
  RlsFrontend(LoopContext& context, const Health& health, RlsOptions options,
              std::shared_ptr<Quotas> quotas = std::make_shared<Quotas>())
      : FrontendWith(std::move(options)), health_(health), rate_limits_(context), quotas_(context, std::move(quotas)) {}

  [[nodiscard]] std::unique_ptr<net::Session> open(const net::Peer& peer, const net::Link& link) override;
  // Clients keep idle connections open.
  [[nodiscard]] net::ConnectionOptions connection_options() const override {
    net::ConnectionOptions options;
    options.timeouts.idle = std::chrono::hours(1);
    return options;
  }
  [[nodiscard]] std::vector<std::string> alpn_protocols() const override { return {"h2"}; }
  [[nodiscard]] std::uint64_t requests() const noexcept override { return calls_.value(); }
  [[nodiscard]] const UnevaluatedCounts* unevaluated() const noexcept override { return &rate_limits_.counts(); }

 private:
  class Session;

  const Health& health_;
  RateLimitService rate_limits_;
  QuotaService quotas_;
  base::Counter calls_;
};

}  // namespace weir::frontend
