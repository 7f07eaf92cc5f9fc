// CL.THROTTLE as redis-cell defines it, in the simplest form: one arrival time per key, in N-ths of a microsecond.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>

#include "weir/decision.h"
#include "weir/limit.h"

namespace weir::store {

class ThrottleOracle {
 public:
  struct Answer {
    bool limited = false;
    std::uint64_t remaining = 0;
    std::optional<Duration> retry_after;  // set if it is limited and can ever fit
    Duration reset_after{};

    friend bool operator==(const Answer&, const Answer&) = default;
  };

  Answer ask(const std::string& key, const BucketNumbers& numbers, std::uint64_t quantity, Instant at) {
    const auto common =
        static_cast<Number>(std::gcd(numbers.rate.count, static_cast<std::uint64_t>(numbers.rate.per.count())));
    const Number n = static_cast<Number>(numbers.rate.count) / common;
    const Number emission = numbers.rate.per.count() / common;  // the time of one token, in N-ths
    const Number tolerance = emission * static_cast<Number>(numbers.burst);
    const Number now = at.time_since_epoch().count() * n;
    const Number before = std::max(arrival(key, n), now);
    const Number after = before + emission * static_cast<Number>(quantity);
    const bool limited = now < after - tolerance;
    if (!limited && quantity > 0) arrivals_[key] = {after, n};
    const Number until_full = (limited ? before : after) - now;
    Answer answer{.limited = limited, .retry_after = {}, .reset_after = Duration{ceiling(until_full, n)}};
    if (until_full <= tolerance) answer.remaining = static_cast<std::uint64_t>((tolerance - until_full) / emission);
    if (limited && quantity <= numbers.burst) answer.retry_after = Duration{ceiling(after - tolerance - now, n)};
    return answer;
  }

 private:
  __extension__ using Number = __int128;
  struct Arrival {
    Number nths;
    Number n;
  };

  static std::int64_t ceiling(Number nths, Number n) { return static_cast<std::int64_t>((nths + n - 1) / n); }

  // Under another N: the first time in N-ths that maps to the same 8,192-th of a microsecond, rounded up, or later.
  Number arrival(const std::string& key, Number n) const {
    constexpr Number parts_of_one = 8192;
    const auto found = arrivals_.find(key);
    if (found == arrivals_.end()) return 0;
    const Arrival& arrival = found->second;
    if (arrival.n == n) return arrival.nths;
    const Number parts = (arrival.nths * parts_of_one + arrival.n - 1) / arrival.n;
    Number nths = parts * n / parts_of_one;
    while (nths * parts_of_one > (parts - 1) * n) --nths;
    return nths + 1;
  }

  std::map<std::string, Arrival> arrivals_;
};

inline ThrottleOracle::Answer answer_of(const Decision& decision) {
  return {.limited = !decision.admitted,
          .remaining = decision.remaining,
          .retry_after = decision.admitted ? std::nullopt : decision.retry_after,
          .reset_after = decision.reset_after};
}

}  // namespace weir::store
