// The numbers of a limit in one spelling: what was written, what it inherits, and the Limit that they make.
//
// `capacity` is `burst`; `refill_rate` and `leak_rate` are a rate. `rate: 100/min` is a rate to a bucket, and to a
// window its limit and its length, so that either kind can inherit it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "policy/problem.h"
#include "policy/ruleset.h"
#include "policy/spec.h"
#include "weir/limit.h"

namespace weir::policy {

// A value, where it stands, and under which name.
template <class T>
struct Given {
  T value{};
  Mark at;
  std::string_view field;
};

struct Numbers {
  std::optional<Given<Rate>> rate;
  std::optional<Given<std::uint64_t>> burst;
  std::optional<Given<std::uint64_t>> queue;
  std::optional<Given<std::uint64_t>> limit;
  std::optional<Given<Duration>> window;
};

// Reports fields that the algorithm does not have, two spellings of one thing, a queue with a burst, and anything
// beside a ban.
void check_fields(const NumbersSpec& spec, PolicyAlgorithm algorithm, Problems& problems);

[[nodiscard]] Numbers numbers_of(const NumbersSpec& spec);

// `own`, and from `base` what it does not say. A queue and a burst exclude each other, so that one of its own
// replaces the other of the base.
[[nodiscard]] Numbers inherited(const Numbers& own, const Numbers& base);

// The rate of a bucket as it was written; none for a window.
[[nodiscard]] std::optional<WrittenRate> written_rate(PolicyAlgorithm algorithm, const Numbers& numbers);

struct NumbersError {
  std::optional<Mark> at;  // of the number that is wrong; none if one is missing
  std::string message;
};

[[nodiscard]] tl::expected<Limit, NumbersError> make_limit(PolicyAlgorithm algorithm, const Numbers& numbers);

}  // namespace weir::policy
