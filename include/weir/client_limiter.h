// SPDX-License-Identifier: Apache-2.0
// A client-side limiter: delays requests that the server would deny. It enforces its own limit and learns from the
// server's responses (RateLimit, RateLimit-Policy, Retry-After).
#pragma once

#include <memory>
#include <stop_token>
#include <string_view>

#include "weir/clock.h"
#include "weir/cost.h"
#include "weir/limit.h"
#include "weir/result.h"

namespace weir {

// Use one per server quota: a response applies to all senders that share the limiter. Callable from any thread.
class ClientLimiter {
 public:
  // Response fields as received; empty when absent.
  struct Answer {
    bool denied = false;  // 429, or 503 with Retry-After
    std::string_view retry_after = {};
    std::string_view rate_limit = {};
    std::string_view rate_limit_policy = {};
  };

  static Result<ClientLimiter> create(const Limit& limit, std::shared_ptr<const Clock> clock);

  ClientLimiter(ClientLimiter&&) noexcept;
  ClientLimiter& operator=(ClientLimiter&&) noexcept;
  ~ClientLimiter();

  // Waits until a request may be sent. Returns false, and charges nothing, as soon as it is known that the wait would
  // exceed `deadline` or never end, and when a stop is requested.
  [[nodiscard]] bool acquire(Cost cost, Instant deadline, std::stop_token stop = {});

  // Applies a server response. After a denial, nothing is sent for the duration of its Retry-After. After a RateLimit
  // field, no more than what it says remains is sent until more becomes available. If nothing remains, nothing is sent
  // until then. Responses only add restrictions, in any order: none permits what another forbids. Invalid fields are
  // ignored.
  void learn(const Answer& answer);

  // Returns the instant before which the server's responses forbid sending; now when sending is allowed.
  [[nodiscard]] Instant closed_until() const;

 private:
  struct Body;
  explicit ClientLimiter(std::unique_ptr<Body> body) noexcept;
  std::unique_ptr<Body> body_;
};

}  // namespace weir
