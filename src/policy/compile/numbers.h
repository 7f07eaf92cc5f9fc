// The numbers of a limit in one spelling: what was written, what it inherits, and the Limit that they make.
//
// `capacity` is `burst`; `refill_rate` and `leak_rate` are a rate. `rate: 100/min` is a rate to a bucket, and to a
// window its limit and its length, so that either kind can inherit it. `rate: 100/month` has no length: to a fixed
// window it is a month of the calendar. The limit of a concurrency is not that of a window: neither inherits it from
// the other, since a candidate is of its limit's kind.
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
  std::optional<Given<Duration>> lease;
  std::optional<Given<std::uint64_t>> limit;
  std::optional<Given<Duration>> window;
  std::optional<core::CalendarUnit> unit;  // of `rate` and `window`, where they are per week, month or year
  std::optional<Given<const core::Calendar*>> calendar;  // as `window` is called in a policy
};

// Reports fields that the algorithm does not have, two spellings of one thing, a queue with a burst, and anything
// beside a ban.
void check_fields(const NumbersSpec& spec, PolicyAlgorithm algorithm, LimitFields fields, Problems& problems);

[[nodiscard]] Numbers numbers_of(const NumbersSpec& spec);

// `own`, and from `base` what it does not say. A queue and a burst exclude each other, so that one of its own
// replaces the other of the base.
[[nodiscard]] Numbers inherited(const Numbers& own, const Numbers& base);

// Whose numbers they are: where an error about them stands, and how it begins.
struct Owner {
  Mark at;
  std::string called;  // "", or "candidate: "
};

struct TierNumbers {
  const TierOverrideSpec* spec = nullptr;
  std::uint32_t tier = 0;  // of Tiers::names
};

// The tiers of a policy, and what their field is called where they are written.
struct NamedTiers {
  const Tiers& tiers;
  std::string_view field;
};

// The overrides whose tiers are known; the others are reported.
[[nodiscard]] std::vector<TierNumbers> find_tiers(const std::vector<TierOverrideSpec>& overrides, NamedTiers tiers,
                                                  Problems& problems);

struct Numbered {
  PolicyAlgorithm algorithm = PolicyAlgorithm::token_bucket;
  Numbers numbers;
  bool banned = false;  // but for tiers that have numbers, or are unlimited
  std::vector<TierNumbers> overrides;
  // Overrides that were written for another algorithm: what this one does not have is dropped from them.
  bool overrides_of_another = false;
};

// The numbers of a limit, or of its candidate, for each tier.
[[nodiscard]] std::optional<TieredLimit> compile_tiers(const Numbered& numbered, const Tiers& tiers, const Owner& owner,
                                                       Problems& problems);

}  // namespace weir::policy
