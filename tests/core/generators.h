// Random limits and traces that are likely to hit an edge: rates that do not divide, steps of about a token or a
// window, repeated instants, clocks that step back or far ahead.
#pragma once

#include <rapidcheck.h>

#include <array>
#include <vector>

#include "tests/core/differential.h"

namespace weir::core {

// Uniform, from the first case on.
inline std::int64_t any_between(std::int64_t low, std::int64_t high) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::int64_t>(low, high + 1));
}

inline std::uint64_t any_count(std::int64_t low, std::int64_t high) {
  return static_cast<std::uint64_t>(any_between(low, high));
}

enum class Scale { microseconds, seconds, fast, slow };

// A few microseconds, where every instant can be tried; realistic numbers; more than one per microsecond; very slow
// rates.
inline Numbers any_numbers(Scale scale) {
  switch (scale) {
    case Scale::microseconds:
      return {any_count(1, 6), any_count(1, 9), Duration{any_between(1, 40)}};
    case Scale::seconds:
      return {any_count(1, 50), any_count(1, 50), std::chrono::seconds{any_between(1, 60)}};
    case Scale::fast:
      return {any_count(1, 60'000), any_count(1, 50'000'000), Duration{any_between(1, 1'000'000)}};
    case Scale::slow:
      break;
  }
  return {any_count(1, 20), any_count(1, 1000), std::chrono::hours{any_between(1, 24 * 40)}};
}

inline Numbers any_numbers() {
  return any_numbers(static_cast<Scale>(any_between(0, 3)));
}

// A duration around which something changes: a token, the time to fill, a window, half of it.
inline std::int64_t any_landmark(const Numbers& numbers) {
  const auto per = numbers.per.count();
  const auto token = per / static_cast<std::int64_t>(numbers.count);
  const auto fill = static_cast<std::int64_t>(static_cast<double>(per) / static_cast<double>(numbers.count) *
                                              static_cast<double>(numbers.capacity));
  const std::array landmarks{token, fill, per, per / 2, per / 7, 2 * per};
  return landmarks.at(static_cast<std::size_t>(any_between(0, landmarks.size() - 1)));
}

inline Duration any_step(const Numbers& numbers) {
  switch (any_between(0, 11)) {
    case 0:
    case 1:
    case 2:
      return Duration{0};
    case 3:
    case 4:
      return Duration{any_between(1, 5)};
    case 5:
    case 6:
      return Duration{std::max<std::int64_t>(0, any_landmark(numbers) + any_between(-2, 2))};
    case 7:
    case 8:
      return Duration{any_between(0, 1 + any_landmark(numbers))};
    case 9:
      return Duration{any_between(0, 20 * numbers.per.count())};
    case 10:
      return Duration{any_between(0, std::int64_t{1} << any_between(1, 52))};
    default:
      return Duration{-any_between(1, 1 + any_landmark(numbers))};
  }
}

inline Duration any_forward_step(const Numbers& numbers) {
  return std::max(any_step(numbers), Duration{0});
}

inline std::uint64_t any_cost(const Numbers& numbers) {
  const auto capacity = static_cast<std::int64_t>(numbers.capacity);
  switch (any_between(0, 5)) {
    case 0:
      return any_count(0, 1);
    case 1:
      return any_count(capacity, capacity + 1);
    case 2:
      return any_count(0, capacity + 2);
    default:
      return any_count(1, 1 + capacity / 3);
  }
}

inline Operation any_operation(const Numbers& numbers) {
  using Kind = Operation::Kind;
  const auto kind = any_between(0, 10);
  Operation operation{.kind = kind < 8    ? Kind::decide
                              : kind < 10 ? Kind::refund
                                          : Kind::settle_up,
                      .step = any_step(numbers),
                      .cost = any_cost(numbers)};
  if (any_between(0, 3) == 0) operation.max_wait = Duration{any_between(-1, any_landmark(numbers))};
  return operation;
}

// Shrinks by omitting operations.
inline std::vector<Operation> any_trace(const Numbers& numbers) {
  return *rc::gen::container<std::vector<Operation>>(rc::gen::exec([=] { return any_operation(numbers); }));
}

// Any time, including before the epoch.
inline Instant any_start() {
  return Instant{Duration{any_between(-(std::int64_t{1} << 53), std::int64_t{1} << 53)}};
}

}  // namespace weir::core
