// Converts the numbers of a limit to one spelling, applies inheritance, and makes the Limit of each tier.
//
// `capacity` is `burst`; `refill_rate` and `leak_rate` are a rate. `rate: 100/min` is a rate for a bucket, and limit
// and length for a window, so either kind can inherit it. `rate: 100/month` has no fixed length: for a fixed window it
// is a calendar month. A concurrency limit and a window never inherit `limit` from each other: a candidate must be a
// concurrency limit if and only if its limit is one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/calendar.h"
#include "policy/limit_fields.h"
#include "policy/ruleset.h"
#include "policy/spec.h"
#include "weir/limit.h"
#include "weir/result.h"

namespace weir::policy {

// A value with its position and the name of its field.
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
  std::optional<Given<Duration>> lease;
  std::optional<Given<std::uint64_t>> limit;
  std::optional<Given<Duration>> window;
  std::optional<core::CalendarUnit> unit;                // unit of `rate` and `window` if it is week, month or year
  std::optional<Given<const core::Calendar*>> calendar;  // `window` of a policy
};

// Reports fields that the algorithm does not have, mixed spellings, a queue with a burst, and anything combined with a
// ban.
void check_fields(const NumbersSpec& spec, PolicyAlgorithm algorithm, LimitFields fields, Problems& problems);

[[nodiscard]] Numbers numbers_of(const NumbersSpec& spec);

// Completes `own` from `base`. A queue and a burst exclude each other: the one in `own` replaces the other in `base`.
[[nodiscard]] Numbers inherited(const Numbers& own, const Numbers& base);

// The position and prefix of errors about numbers.
struct Owner {
  Mark at;
  std::string called;  // "", or "candidate: "
};

struct TierNumbers {
  const TierOverrideSpec* spec = nullptr;
  std::uint32_t tier = 0;  // index in Tiers::names
};

// The tiers of a policy, and the name of their field in the file.
struct NamedTiers {
  const Tiers& tiers;
  std::string_view field;
};

// Returns the overrides of known tiers, and reports the others.
[[nodiscard]] std::vector<TierNumbers> find_tiers(const std::vector<TierOverrideSpec>& overrides, NamedTiers tiers,
                                                  Problems& problems);

struct Numbered {
  PolicyAlgorithm algorithm = PolicyAlgorithm::token_bucket;
  Numbers numbers;
  bool banned = false;  // all tiers are banned, except those with numbers and unlimited ones
  std::vector<TierNumbers> overrides;
  // The overrides were written for another algorithm, so fields that this one lacks are dropped.
  bool overrides_of_another = false;
};

// Replaces numbers of a tier by those of `spec`, and keeps the others. As in a policy, a burst that follows from the
// rate follows from the new rate. `rate` is TieredLimit::rates of the tier. An error names the field.
[[nodiscard]] Result<Limit> replaced_numbers(const Limit& base, const std::optional<WrittenRate>& rate,
                                             PolicyAlgorithm algorithm, const NumbersSpec& spec);

// Compiles the numbers of a limit, or of its candidate, for each tier.
[[nodiscard]] std::optional<TieredLimit> compile_tiers(const Numbered& numbered, const Tiers& tiers, const Owner& owner,
                                                       Problems& problems);

}  // namespace weir::policy
