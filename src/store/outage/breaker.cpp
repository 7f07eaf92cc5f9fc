#include "store/outage/breaker.h"

#include <algorithm>

namespace weir::store {
namespace {

constexpr std::size_t max_answers = 1024;  // beyond this the oldest are dropped early

}  // namespace

Breaker::Breaker(const Options& options, std::uint64_t seed, SteadyTime now) noexcept
    : options_(options), random_(seed | 1), probe_at_(now), wait_(options.min_wait) {}

bool Breaker::begin_probe(SteadyTime now) noexcept {
  if (state_ != BreakerState::open || now < probe_at_) return false;
  state_ = BreakerState::half_open;
  return true;
}

void Breaker::answered(Duration took, SteadyTime now) {
  const bool slow = took > options_.slow;
  if (state_ == BreakerState::half_open) {
    if (slow) return open(now);
    wait_ = options_.min_wait;
    return close();
  }
  if (state_ == BreakerState::open) return;
  record(slow, now);
  if (!slow) {
    errors_ = 0;
    wait_ = options_.min_wait;
  }
  if (too_slow(now)) open(now);
}

void Breaker::alive() noexcept {
  if (state_ != BreakerState::closed) close();
}

void Breaker::failed(SteadyTime now) {
  if (state_ == BreakerState::open) return;
  ++errors_;
  if (state_ == BreakerState::half_open || errors_ >= options_.errors_in_a_row) open(now);
}

// Consecutive errors are reset by the next good answer; a slow answer counts for the whole window.
void Breaker::timed_out(std::size_t answers, SteadyTime now) {
  if (state_ != BreakerState::closed) return failed(now);
  for (std::size_t i = 0; i < answers; ++i) record(true, now);
  failed(now);
  if (state_ == BreakerState::closed && too_slow(now)) open(now);
}

void Breaker::record(bool slow, SteadyTime now) {
  answers_.push_back({now, slow});
  slow_ += slow ? 1 : 0;
}

void Breaker::lost(SteadyTime now) {
  if (state_ != BreakerState::open) open(now);
}

void Breaker::open(SteadyTime now) {
  state_ = BreakerState::open;
  probe_at_ = now + jittered(wait_);
  wait_ = std::min(wait_ * 2, options_.max_wait);
}

void Breaker::close() noexcept {
  state_ = BreakerState::closed;
  errors_ = 0;
  answers_.clear();
  slow_ = 0;
}

bool Breaker::too_slow(SteadyTime now) {
  while (!answers_.empty() && (answers_.size() > max_answers || now - answers_.front().at > options_.window)) {
    slow_ -= answers_.front().slow ? 1U : 0U;
    answers_.pop_front();
  }
  return answers_.size() >= options_.min_answers && slow_ * 2 >= answers_.size();
}

// Returns between three quarters of `wait` and all of it, so that nodes do not all return at the same time. xorshift is
// random enough.
Duration Breaker::jittered(Duration wait) noexcept {
  random_ ^= random_ << 13U;
  random_ ^= random_ >> 7U;
  random_ ^= random_ << 17U;
  const auto quarter = static_cast<std::uint64_t>(wait.count() / 4);
  return wait - Duration{static_cast<std::int64_t>(random_ % (quarter + 1))};
}

}  // namespace weir::store
