#include "weir/limiter.h"

#include <mutex>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/operations.h"
#include "core/receipts.h"
#include "core/rule.h"
#include "limiter/acquire.h"
#include "limiter/receipt_ids.h"

namespace weir {
namespace limiter {

template <class A>
struct Single {
  typename A::Limit limit;
  typename A::State state;
};

template <class Rule>
struct SingleVariant;
template <class... As>
struct SingleVariant<std::variant<core::RuleOf<As>...>> {
  using Type = std::variant<Single<As>...>;
};

}  // namespace limiter

using limiter::Single;

struct Limiter::Body {
  std::shared_ptr<const Clock> clock;
  core::Rule rule;
  limiter::ReceiptIds ids{};
  mutable std::mutex mutex{};
  limiter::SingleVariant<core::Rule>::Type single{};
  core::Receipts receipts{};

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

  Decision peek(Cost cost) {
    return with_state([&]<class A>(const Single<A>& of, Instant now) {
      if constexpr (std::is_same_v<A, core::Concurrency>) {
        const core::ReceiptUse any{.id = {1, 1}, .lasts = limiter::lasting(rule, Duration::zero())};
        return receipts.hold(of.limit, cost, &any, 0, false, core::micros(now));
      } else {
        return A::peek(of.limit, of.state, cost, now);
      }
    });
  }

  Decision reserve(Cost cost, core::ReceiptUse& use) {
    return with_state([&]<class A>(Single<A>& of, Instant now) {
      const bool was_open = receipts.is_open(use.id, core::micros(now));
      const Cost charged = was_open ? Cost{0} : cost;
      Decision decision;
      if constexpr (std::is_same_v<A, core::Concurrency>) {
        decision = receipts.hold(of.limit, charged, &use, 0, false, core::micros(now));
      } else {
        decision = core::decide_state<A>(of.limit, of.state, charged, Duration::max(), now);
      }
      if (was_open) core::admit_again(decision);
      if (decision.admitted) {
        const core::ChargePosition place = core::charge_position<A>(of.limit, of.state, decision);
        receipts.reserve(place, cost, was_open, use, core::micros(now));
      }
      return decision;
    });
  }
};

Result<Limiter> Limiter::create(const Limit& limit, std::shared_ptr<const Clock> clock) {
  if (!clock) return failure("clock", "must not be null: pass a WallClock, or a ManualClock in a test");
  std::unique_ptr<Body> body(new Body{std::move(clock), core::compile(limit)});
  const bool has_memory = std::visit(
      [&]<class A>(const core::RuleOf<A>& rule) {
        typename A::State state;
        if constexpr (std::is_same_v<A, core::SlidingWindowLog>) {
          state.ring = core::LogRing::create(rule.limit.max_entries());
          if (!state.ring) return false;
        }
        body->single = Single<A>{rule.limit, std::move(state)};
        return true;
      },
      body->rule);
  if (!has_memory) return failure("limit", "out of memory for a log of that many requests");
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
  return body_->peek(cost);
}

Decision Limiter::acquire(Cost cost, Instant deadline, std::stop_token stop) {
  struct Limited {
    Body& body;
    Cost cost;
    [[nodiscard]] bool is_queue() const { return std::holds_alternative<Single<core::LeakyBucketQueue>>(body.single); }
    Decision peek() { return body.peek(cost); }
    Decision decide(Duration max_wait) { return body.decide(cost, max_wait); }
    void give_back(const Decision& charge) {
      body.with_state([&]<class A>(Single<A>& of, Instant now) {
        const core::Settlement none_of_it{cost, Cost{0}, core::charged_by(charge)};
        body.receipts.template settle<A>(of.limit, of.state, none_of_it, core::micros(now));
      });
    }
  };
  return limiter::acquire(*body_->clock, Limited{*body_, cost}, deadline, stop);
}

Decision Limiter::acquire_within(Cost cost, Duration at_most, std::stop_token stop) {
  return acquire(cost, limiter::later(body_->clock->now(), at_most), std::move(stop));
}

Reservation Limiter::reserve(Cost cost, Duration lasts, std::string_view id) {
  core::ReceiptUse use{.id = body_->ids.next(id), .lasts = limiter::lasting(body_->rule, lasts)};
  Reservation reservation = limiter::reservation_of(body_->reserve(cost, use), use);
  if (limiter::has_receipt(use.result)) reservation.receipt = {0, use.id.high, use.id.low};
  return reservation;
}

ReceiptAnswer Limiter::settle(const Receipt& receipt, Cost actual) {
  core::ReceiptUse use{.id = {receipt.high_, receipt.low_}, .actual = actual};
  body_->with_state([&]<class A>(Single<A>& of, Instant now) {
    body_->receipts.template settle<A>(of.limit, of.state, use, core::micros(now));
  });
  return limiter::answer_of(use);
}

ReceiptAnswer Limiter::extend(const Receipt& receipt, Duration lasts) {
  core::ReceiptUse use{.id = {receipt.high_, receipt.low_}, .lasts = limiter::lasting(body_->rule, lasts)};
  body_->with_state([&](auto& /*of*/, Instant now) { body_->receipts.extend(use, core::micros(now)); });
  return limiter::answer_of(use);
}

ReceiptAnswer Limiter::report(Cost cost, std::string_view id) {
  if (core::is_concurrency(body_->rule)) return {};
  core::ReceiptUse use;
  if (!id.empty()) use.id = limiter::ReceiptIds::of(id);
  body_->with_state([&]<class A>(Single<A>& of, Instant now) {
    body_->receipts.template report<A>(of.limit, of.state, cost, use, core::micros(now));
  });
  return limiter::answer_of(use);
}

void Limiter::reset() {
  body_->with_state([&]<class A>(Single<A>& of, Instant /*now*/) {
    body_->receipts = {};
    if constexpr (std::is_same_v<A, core::SlidingWindowLog>) {
      of.state.ring->drop_first(of.state.ring->size());
    } else {
      of.state = {};
    }
  });
}

}  // namespace weir
