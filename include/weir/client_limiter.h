// A client-side limiter: waits instead of sending what would be refused. It paces by its own limit
// and learns from the server's answers (RateLimit, RateLimit-Policy, Retry-After).
#pragma once

#include <memory>
#include <stop_token>
#include <string_view>

#include "weir/clock.h"
#include "weir/cost.h"
#include "weir/limit.h"
#include "weir/result.h"

namespace weir {

// One for each quota of the server's: what an answer says holds for all who send through it.
// Callable from any thread.
class ClientLimiter {
 public:
  // The fields of an answer, as they were received; empty when absent.
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

  // Waits until a request may be sent. False as soon as it is known that this takes waiting beyond
  // `deadline` or never comes, and when a stop is requested: then nothing was taken.
  [[nodiscard]] bool acquire(Cost cost, Instant deadline, std::stop_token stop = {});

  // Tells what the server answered. After a denial nothing is sent for as long as its Retry-After says; after a
  // RateLimit with nothing left, until there is more; after one with something left, no more than that until
  // then. Answers only ever add to what is known: none permits what another forbids, in whatever order they
  // arrive. A field that cannot be read is ignored.
  void learn(const Answer& answer);

  // The instant before which, by the server's answers, nothing is sent; now when something may be sent.
  [[nodiscard]] Instant closed_until() const;

 private:
  struct Body;
  explicit ClientLimiter(std::unique_ptr<Body> body) noexcept;
  std::unique_ptr<Body> body_;
};

}  // namespace weir
