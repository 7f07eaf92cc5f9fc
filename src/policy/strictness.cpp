#include "policy/strictness.h"

#include "core/product.h"

namespace weir::policy {
namespace {

using core::Wide;

bool is_bucket(const Limit& limit) noexcept {
  return limit.algorithm() < Algorithm::fixed_window;
}

bool is_queue(const Limit& limit) noexcept {
  return limit.algorithm() == Algorithm::leaky_bucket_queue;
}

bool is_log(const Limit& limit) noexcept {
  return limit.algorithm() == Algorithm::sliding_window_log;
}

// A fixed window or a counter: at most the limit in each window that begins at a multiple of its length.
bool is_aligned(const Limit& limit) noexcept {
  return limit.algorithm() == Algorithm::fixed_window || limit.algorithm() == Algorithm::sliding_window_counter;
}

std::uint64_t length(const Limit& limit) noexcept {
  return static_cast<std::uint64_t>(limit.rate().per.count());
}

bool no_faster(Rate a, Rate b) noexcept {
  return Wide{a.count} * static_cast<std::uint64_t>(b.per.count()) <=
         Wide{b.count} * static_cast<std::uint64_t>(a.per.count());
}

// The most that `limit` admits at `instants` consecutive microseconds, whatever was before.
Wide most_within(const Limit& limit, Wide instants) noexcept {
  const Wide longest_gap = instants - 1;  // between the first and the last
  if (is_bucket(limit)) return limit.capacity() + longest_gap * limit.rate().count / length(limit);
  const Wide whole = length(limit);
  if (is_log(limit)) return limit.capacity() * ((instants + whole - 1) / whole);
  return limit.capacity() * ((longest_gap + whole - 1) / whole + 1);  // windows that they can touch
}

// What `limit` can be ahead of its own rate, at most: a bucket of that size and rate holds all it admits.
Wide most_ahead(const Limit& limit) noexcept {
  return is_aligned(limit) ? Wide{limit.capacity()} * 2 : Wide{limit.capacity()};
}

bool stricter_than_bucket(const Limit& a, const Limit& bucket) noexcept {
  return most_ahead(a) <= bucket.capacity() && no_faster(a.rate(), bucket.rate());
}

// A caller that cannot wait is denied by a queue unless nobody waits. So besides other queues only what admits one
// at a time, spaced out, is as strict.
bool stricter_than_queue(const Limit& a, const Limit& queue) noexcept {
  const bool one_at_a_time = a.capacity() == 1 && !is_aligned(a);
  return (is_queue(a) || one_at_a_time) && stricter_than_bucket(a, queue);
}

bool stricter_than_window(const Limit& a, const Limit& window) noexcept {
  const bool counter = window.algorithm() == Algorithm::sliding_window_counter;
  if (is_aligned(a) && a.capacity() <= window.capacity()) {
    // A shorter window lies within one of a longer. A counter looks at two, so it takes the same counter.
    const bool is_nested = window.algorithm() == Algorithm::fixed_window && length(a) % length(window) == 0;
    const bool is_same = counter && a.algorithm() == window.algorithm() && length(a) == length(window);
    if (is_nested || is_same) return true;
  }
  const Wide looked_at = Wide{length(window)} * (counter ? 2U : 1U);
  return most_within(a, looked_at) <= window.capacity();
}

}  // namespace

bool at_least_as_strict(const Limit& a, const Limit& b) noexcept {
  if (is_queue(b)) return stricter_than_queue(a, b);
  if (is_bucket(b)) return stricter_than_bucket(a, b);
  return stricter_than_window(a, b);
}

Terms terms_of(const TieredLimit& limits, std::size_t tier) {
  if (limits.bans(tier)) return {.numbers = {}, .banned = true};
  return {.numbers = tier < limits.by_tier.size() ? limits.by_tier[tier] : std::nullopt};
}

bool at_least_as_strict(const Terms& a, const Terms& b) noexcept {
  if (a.banned || b.banned) return a.banned;
  if (!b.numbers) return true;
  return a.numbers && at_least_as_strict(*a.numbers, *b.numbers);
}

}  // namespace weir::policy
