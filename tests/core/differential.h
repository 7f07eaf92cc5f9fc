// Drives an algorithm and its model with the same operations and reports where they first differ. Used with random
// traces (RapidCheck) and with any bytes (the fuzzer).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "tests/core/oracle_decision.h"
#include "tests/core/subject.h"

namespace weir::core {

struct Operation {
  enum class Kind : std::uint8_t {
    decide,
    refund,     // a part of an earlier charge
    settle_up,  // charges without a decision
  };

  Kind kind = Kind::decide;
  Duration step{};  // since the previous operation; negative when the clock steps back
  std::uint64_t cost = 1;
  Duration max_wait = Duration::max();  // queues only
};

inline std::ostream& operator<<(std::ostream& out, const Operation& operation) {
  constexpr const char* kinds[] = {"decide", "refund", "settle_up"};
  out << kinds[static_cast<int>(operation.kind)] << "(" << operation.cost << ") after " << operation.step.count();
  if (operation.max_wait != Duration::max()) out << " max_wait " << operation.max_wait.count();
  return out;
}

template <class A>
struct ModelOf {
  using Type = oracle::Bucket;
};
template <>
struct ModelOf<LeakyBucketQueue> {
  using Type = oracle::Queue;
};
template <>
struct ModelOf<FixedWindow> {
  using Type = oracle::FixedWindow;
};
template <>
struct ModelOf<SlidingWindowLog> {
  using Type = oracle::SlidingWindowLog;
};
template <>
struct ModelOf<SlidingWindowCounter> {
  using Type = oracle::SlidingWindowCounter;
};

template <class A>
class Differential {
 public:
  using Int = oracle::Int;

  Differential(const weir::Limit& limit, Instant start) : subject_(limit), model_(limit), limit_(limit), now_(start) {}

  // Returns the difference, if any.
  std::optional<std::string> apply(const Operation& operation) {
    now_ += operation.step;
    switch (operation.kind) {
      case Operation::Kind::decide:
        decide(operation);
        break;
      case Operation::Kind::refund:
        refund(operation.cost);
        break;
      case Operation::Kind::settle_up:
        settle_up(operation.cost);
        break;
    }
    for (const std::uint64_t cost : {std::uint64_t{0}, std::uint64_t{1}, operation.cost, limit_.capacity()}) {
      compare("peek", cost, peeked(cost, operation.max_wait),
              oracle::peek(model_, Cost{cost}, now(), timeout(operation)));
    }
    return difference_;
  }

 private:
  struct Charge {
    std::uint64_t left;
    Charged charged;
    Int where;  // in the model
  };

  static Int timeout(const Operation& operation) { return std::max<Int>(0, operation.max_wait.count()); }
  [[nodiscard]] Int now() const { return now_.time_since_epoch().count(); }

  // A bucket only knows when it will be full. While the clock is behind the newest write, the step back counts as
  // usage: stricter than the model, until time has caught up.
  [[nodiscard]] bool is_stricter_now() const {
    if constexpr (is_bucket<A>) return model_.is_behind(now());
    return false;
  }

  Decision decided(std::uint64_t cost, Duration max_wait) {
    if constexpr (std::is_same_v<A, LeakyBucketQueue>) return subject_.decide(Cost{cost}, now_, max_wait);
    return subject_.decide(Cost{cost}, now_);
  }

  [[nodiscard]] Decision peeked(std::uint64_t cost, Duration max_wait) const {
    if constexpr (std::is_same_v<A, LeakyBucketQueue>) return subject_.peek(Cost{cost}, now_, max_wait);
    return subject_.peek(Cost{cost}, now_);
  }

  void decide(const Operation& operation) {
    const Decision actual = decided(operation.cost, operation.max_wait);
    const auto before = model_;
    Int where = 0;
    const Decision expected = oracle::decide(model_, Cost{operation.cost}, now(), where, timeout(operation));
    compare("decide", operation.cost, actual, expected);
    if (expected.admitted && !actual.admitted) model_ = before;
    if (actual.admitted && operation.cost > 0) charges_.push_back({operation.cost, charged_by(actual), where});
  }

  void refund(std::uint64_t choice) {
    if (charges_.empty() || is_stricter_now()) return;
    if constexpr (is_bucket<A>) {
      if (model_.backlog(now()) == 0) return;  // all of it was refilled
    }
    const std::size_t chosen =
        std::is_same_v<A, LeakyBucketQueue> && choice % 2 == 0 ? charges_.size() - 1 : choice % charges_.size();
    Charge& charge = charges_[chosen];
    std::uint64_t cost = 1 + choice / 2 % charge.left;
    if constexpr (std::is_same_v<A, LeakyBucketQueue>) {
      // A turn is given back as a whole. After a debt, or if a turn is shorter than a microsecond, the instant does not
      // identify the turn.
      if (in_debt_once_ || limit_.rate().count > static_cast<std::uint64_t>(limit_.rate().per.count())) return;
      cost = charge.left;
    }
    subject_.refund(Cost{cost}, charge.charged, now_);
    model_.refund(Int{cost}, charge.where, now());
    charge.left -= cost;
    if (charge.left == 0) charges_.erase(charges_.begin() + static_cast<std::ptrdiff_t>(chosen));
  }

  void settle_up(std::uint64_t cost) {
    if (cost == 0 || is_stricter_now()) return;
    if constexpr (std::is_same_v<A, SlidingWindowLog>) {
      // A log that is full of entries adds a debt to the newest of them: see sliding_window_log_test.cpp.
      if (model_.instants(now()) >= model_.capacity()) return;
    }
    in_debt_once_ = true;
    subject_.owe(Cost{cost}, now_);
    model_.owe(Int{cost}, now());
  }

  void compare(const char* operation, std::uint64_t cost, Decision actual, const Decision& expected) {
    if (difference_) return;
    actual.charged_at = expected.charged_at;
    const bool alike = actual.admitted == expected.admitted && actual.remaining <= expected.remaining;
    const bool stricter = alike || (!actual.admitted && expected.admitted);
    if (is_stricter_now() ? stricter : actual == expected) return;
    std::ostringstream text;
    text << operation << "(" << cost << ") at " << now_.time_since_epoch().count() << ": ";
    PrintTo(actual, &text);
    text << "; the model: ";
    PrintTo(expected, &text);
    difference_ = text.str();
  }

  Subject<A> subject_;
  typename ModelOf<A>::Type model_;
  weir::Limit limit_;
  Instant now_;
  std::vector<Charge> charges_;
  bool in_debt_once_ = false;
  std::optional<std::string> difference_;
};

}  // namespace weir::core
