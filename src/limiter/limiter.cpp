#include "weir/limiter.h"

#include <mutex>
#include <utility>
#include <variant>

#include "core/operations.h"
#include "core/rule.h"
#include "limiter/acquire.h"

namespace weir {
namespace limiter {

template <class A>
struct Single {
  typename A::Limit limit;
  typename A::State state;
};

template <class... As>
using SingleVariant = std::variant<Single<As>...>;

}  // namespace limiter

using limiter::Single;

struct Limiter::Body {
  std::shared_ptr<const Clock> clock;
  mutable std::mutex mutex;
  core::AllAlgorithms::Apply<limiter::SingleVariant> single;

  // Calls work(single, now) under the lock; the time is read there, so that it does not go back between calls.
  template <class Work>
  decltype(auto) with_state(Work&& work) {
    const std::lock_guard lock(mutex);
    return std::visit([&](auto& of) -> decltype(auto) { return work(of, clock->now()); }, single);
  }

  Decision decide(Cost cost, Duration max_wait) {
    return with_state([&]<class A>(Single<A>& of, Instant now) {
      return core::decide_state<A>(of.limit, of.state, cost, max_wait, now);
    });
  }

  void refund(Cost cost, const Decision& charge) {
    with_state([&]<class A>(Single<A>& of, Instant now) {
      A::refund(of.limit, of.state, cost, core::charged_by(charge), now);
    });
  }
};

Result<Limiter> Limiter::create(const Limit& limit, std::shared_ptr<const Clock> clock) {
  if (!clock) return failure("clock", "is missing: pass a WallClock, or a ManualClock in a test");
  auto body = std::make_unique<Body>();
  body->clock = std::move(clock);
  if (limit.algorithm() == Algorithm::concurrency) {
    return failure("limit", "is of what is held at once, and a limiter has no receipts: limit a rate");
  }
  const bool has_memory = std::visit(
      [&]<class A>(const core::RuleOf<A>& rule) {
        if constexpr (!std::is_same_v<A, core::Concurrency>) {
          typename A::State state;
          if constexpr (std::is_same_v<A, core::SlidingWindowLog>) {
            state.ring = core::LogRing::create(rule.limit.most_entries());
            if (!state.ring) return false;
          }
          body->single = Single<A>{rule.limit, std::move(state)};
        }
        return true;
      },
      core::compile(limit));
  if (!has_memory) return failure("limit", "there is no memory for a log of that many requests");
  return Limiter(std::move(body));
}

Result<Limiter> Limiter::create(const Limit& limit) {
  return create(limit, std::make_shared<WallClock>());
}

Limiter::Limiter(std::unique_ptr<Body> body) noexcept : body_(std::move(body)) {}
Limiter::Limiter(Limiter&&) noexcept = default;
Limiter& Limiter::operator=(Limiter&&) noexcept = default;
Limiter::~Limiter() = default;

Decision Limiter::check(Cost cost) {
  return body_->decide(cost, Duration::max());
}

Decision Limiter::peek(Cost cost) const {
  return body_->with_state(
      [&]<class A>(const Single<A>& of, Instant now) { return A::peek(of.limit, of.state, cost, now); });
}

Decision Limiter::acquire(Cost cost, Instant deadline, std::stop_token stop) {
  struct Limited {
    const Limiter& limiter;
    Body& body;
    Cost cost;
    [[nodiscard]] bool is_queue() const { return std::holds_alternative<Single<core::LeakyBucketQueue>>(body.single); }
    Decision peek() { return limiter.peek(cost); }
    Decision decide(Duration max_wait) { return body.decide(cost, max_wait); }
    void give_back(const Decision& charge) { body.refund(cost, charge); }
  };
  return limiter::acquire(*body_->clock, Limited{*this, *body_, cost}, deadline, stop);
}

Decision Limiter::acquire_within(Cost cost, Duration at_most, std::stop_token stop) {
  return acquire(cost, limiter::later(body_->clock->now(), at_most), std::move(stop));
}

void Limiter::refund(Cost cost, const Decision& charge) {
  body_->refund(cost, charge);
}

void Limiter::settle(Cost reserved, Cost actual, const Decision& charge) {
  body_->with_state([&]<class A>(Single<A>& of, Instant now) {
    core::settle<A>(of.limit, of.state, {reserved, actual, core::charged_by(charge)}, now);
  });
}

void Limiter::reset() {
  body_->with_state([&]<class A>(Single<A>& of, Instant /*now*/) {
    if constexpr (std::is_same_v<A, core::SlidingWindowLog>) {
      of.state.ring->drop_first(of.state.ring->size());
    } else {
      of.state = {};
    }
  });
}

}  // namespace weir
