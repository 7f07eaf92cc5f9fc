#include "weir/client_limiter.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "client/learned_quota.h"
#include "core/instant.h"
#include "weir/limiter.h"
#include "wire/fields/rate_limit.h"

namespace weir {
namespace {

// The result of an attempt: taken, or when to retry. Neither is set if waiting cannot help.
struct Attempt {
  bool taken = false;
  std::optional<Instant> again_at = {};
};

const wire::RateLimitPolicy* policy_of(const wire::RateLimit& limit, std::span<const wire::RateLimitPolicy> policies) {
  const auto found = std::ranges::find(policies, limit.name, &wire::RateLimitPolicy::name);
  return found == policies.end() ? nullptr : &*found;
}

// How long `limit` applies. Empty if that is unknown: then it imposes nothing.
std::optional<Duration> holds_for(const wire::RateLimit& limit, const wire::RateLimitPolicy* policy) {
  if (limit.remaining == 0) {
    if (limit.more_after) return limit.more_after;
    return policy ? policy->window : std::nullopt;  // more is available after a window at the latest
  }
  // A quota in bytes says nothing about requests.
  const bool counts_requests = !policy || policy->unit == wire::QuotaUnit::requests;
  return counts_requests ? limit.more_after : std::nullopt;
}

// Returns zero without an applicable Retry-After: the response is not a denial, or the field is absent, invalid, or a
// date in the past. Such a date may be past only by our clock, so it does not override RateLimit.
Duration requested_wait(const ClientLimiter::Answer& answer, Instant now) {
  if (!answer.denied) return Duration::zero();
  return wire::parse_retry_after(answer.retry_after, now).value_or(Duration::zero());
}

}  // namespace

struct ClientLimiter::Body {
  Body(Limiter own_limiter, std::shared_ptr<const Clock> its_clock) noexcept
      : clock(std::move(its_clock)), own(std::move(own_limiter)) {}

  // Clamped, so that a wait can be added without overflow.
  [[nodiscard]] Instant now() const noexcept { return core::instant_at(core::micros(clock->now())); }

  Attempt attempt(Cost cost, Instant deadline) {
    const std::scoped_lock lock(mutex);
    const Decision turn = own.peek(cost);
    if (!turn.retry_after) return {};
    // A turn in a queue is not taken in advance: before it comes, a response may forbid it or a stop may be requested.
    const Instant present = now();
    const Instant at = std::max(learned.admits_at(cost, present), present + *turn.retry_after + turn.delay);
    if (at > present && at > deadline) return {};
    if (at > present || !own.check(cost)) return {.again_at = at};
    learned.take(cost, present);
    return {.taken = true};
  }

  const std::shared_ptr<const Clock> clock;
  mutable std::mutex mutex;
  // Guarded by the mutex, so that a request is charged to both or to neither.
  Limiter own;
  client::LearnedQuota learned;
};

Result<ClientLimiter> ClientLimiter::create(const Limit& limit, std::shared_ptr<const Clock> clock) {
  auto own = Limiter::create(limit, clock);
  if (!own) return tl::unexpected(std::move(own.error()));
  return ClientLimiter(std::make_unique<Body>(std::move(*own), std::move(clock)));
}

ClientLimiter::ClientLimiter(std::unique_ptr<Body> body) noexcept : body_(std::move(body)) {}
ClientLimiter::ClientLimiter(ClientLimiter&&) noexcept = default;
ClientLimiter& ClientLimiter::operator=(ClientLimiter&&) noexcept = default;
ClientLimiter::~ClientLimiter() = default;

bool ClientLimiter::acquire(Cost cost, Instant deadline, std::stop_token stop) {
  while (!stop.stop_requested()) {
    const Attempt attempt = body_->attempt(cost, deadline);
    if (attempt.taken) return true;
    if (!attempt.again_at) return false;
    // What is learned in the meantime can only move this time later, so no earlier wake-up is needed.
    body_->clock->wait_until(*attempt.again_at, stop);
  }
  return false;
}

void ClientLimiter::learn(const Answer& answer) {
  const Instant now = body_->now();
  const auto limits = wire::parse_rate_limit(answer.rate_limit);
  const auto policies = wire::parse_rate_limit_policy(answer.rate_limit_policy);
  const Duration closed_for = requested_wait(answer, now);

  const std::scoped_lock lock(body_->mutex);
  body_->learned.promise(0, now + closed_for, now);
  if (!limits) return;
  for (const wire::RateLimit& limit : *limits) {
    // Retry-After takes precedence over the time until more is available.
    if (limit.remaining == 0 && closed_for > Duration::zero()) continue;
    const auto wait = holds_for(limit, policies ? policy_of(limit, *policies) : nullptr);
    if (wait) body_->learned.promise(limit.remaining, now + *wait, now);
  }
}

Instant ClientLimiter::closed_until() const {
  const std::scoped_lock lock(body_->mutex);
  return body_->learned.admits_at(Cost{1}, body_->now());
}

}  // namespace weir
