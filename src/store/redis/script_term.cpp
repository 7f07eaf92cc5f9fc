#include "store/redis/script_term.h"

#include <algorithm>
#include <type_traits>
#include <variant>

namespace weir::store::redis {
namespace {

using core::FineSpan;

// Of decide.lua.
enum : std::int64_t { bucket = 1, queue, fixed, counter, log };
enum : std::int64_t { nothing = 0, refund, owe };

// The largest number of the script. Beyond every limit, so that it never fits.
constexpr std::int64_t beyond = (std::int64_t{1} << 53) - 1;

constexpr std::int64_t bounded(std::uint64_t number, std::int64_t most = beyond) noexcept {
  return static_cast<std::int64_t>(std::min(number, static_cast<std::uint64_t>(most)));
}

constexpr bool is_exact(Instant instant) noexcept {
  const std::int64_t micros = instant.time_since_epoch().count();
  return micros >= 0 && micros < beyond;
}

std::uint64_t difference(const core::Settlement& settlement) noexcept {
  const std::uint64_t reserved = settlement.reserved.units();
  const std::uint64_t actual = settlement.actual.units();
  return std::max(reserved, actual) - std::min(reserved, actual);
}

std::int64_t how_of(const core::Settlement& settlement) noexcept {
  if (settlement.actual == settlement.reserved) return nothing;
  return settlement.actual < settlement.reserved ? refund : owe;
}

}  // namespace

bool is_log(const core::Rule& rule) noexcept {
  return std::holds_alternative<core::RuleOf<core::SlidingWindowLog>>(rule);
}

TermNumbers::TermNumbers(const ScriptTerm& term) noexcept {
  core::visit_rule(*term.rule, [&]<class A>(const core::RuleOf<A>& of) {
    if constexpr (std::is_same_v<A, core::LeakyBucketQueue>) {
      add_bucket(of.limit, queue, term);
    } else if constexpr (std::is_base_of_v<core::ArrivalLimit, typename A::Limit>) {
      add_bucket(of.limit, bucket, term);
    } else if constexpr (std::is_same_v<A, core::FixedWindow>) {
      add_window(of.limit, fixed, term);
    } else if constexpr (std::is_same_v<A, core::SlidingWindowCounter>) {
      add_window(of.limit, counter, term);
    } else {
      add_window(of.limit, log, term);
    }
  });
}

void TermNumbers::add_span(FineSpan span) noexcept {
  add(span.whole);
  add(span.nths);
}

void TermNumbers::add_reach(const core::ArrivalLimit& limit) noexcept {
  add_span(limit.reach <= FineSpan{beyond, 0} ? limit.reach : FineSpan{beyond, 0});
}

void TermNumbers::add_bucket(const core::ArrivalLimit& limit, std::int64_t algorithm, const ScriptTerm& term) noexcept {
  if (term.settlement) return add_bucket_settlement(limit, algorithm, *term.settlement);
  const std::uint64_t cost = term.cost.units();
  const bool can_fit = cost <= limit.burst;
  is_simple_ = algorithm == bucket && cost > 0;
  add(algorithm);
  add(bounded(cost));
  add(limit.count);
  add_span(limit.fill);
  add_reach(limit);
  add_span(can_fit ? limit.worth(cost) : FineSpan{beyond, 0});
  add(can_fit && cost > 0 ? bounded(limit.burst / cost) : 0);
  if (algorithm == queue) add(std::clamp<std::int64_t>(term.max_wait.count(), 0, beyond));
}

void TermNumbers::add_bucket_settlement(const core::ArrivalLimit& limit, std::int64_t algorithm,
                                        const core::Settlement& settlement) noexcept {
  const std::uint64_t reserved = settlement.reserved.units();
  const bool is_a_turn = reserved <= limit.burst && is_exact(settlement.charged_at);
  std::int64_t how = how_of(settlement);
  if (algorithm == queue && how == refund && !is_a_turn) how = nothing;
  add(algorithm);
  add(how);
  add(limit.count);
  add_span(limit.fill);
  add_reach(limit);
  add_span(limit.worth(std::min(difference(settlement), 2 * limit.burst)));
  if (algorithm != queue) return;
  add(is_a_turn ? core::micros(settlement.charged_at) : 0);
  add_span(is_a_turn ? limit.worth(reserved) : FineSpan{});
}

void TermNumbers::add_window(const core::WindowLimit& limit, std::int64_t algorithm, const ScriptTerm& term) noexcept {
  add(algorithm);
  if (!term.settlement) {
    add(bounded(term.cost.units()));
    add(static_cast<std::int64_t>(limit.limit));
    add(limit.window);
    return;
  }
  const bool can_be = is_exact(term.settlement->charged_at);
  const std::int64_t charged = can_be ? core::micros(term.settlement->charged_at) : 0;
  const std::int64_t how = how_of(*term.settlement);
  add(how == refund && !can_be ? std::int64_t{nothing} : how);
  add(static_cast<std::int64_t>(limit.limit));
  add(limit.window);
  add(bounded(difference(*term.settlement), std::int64_t{1} << 40));
  add(algorithm == log ? charged : charged / limit.window);
}

}  // namespace weir::store::redis
