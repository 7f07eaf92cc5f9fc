#include "policy/tiered.h"

#include <utility>

#include <fmt/core.h>

#include "policy/scalar.h"
#include "policy/suggestion.h"

namespace weir::policy {
namespace {

// A leaky bucket is a queue or a meter for all tiers: their states are not the same.
bool changes_kind(const Numbers& base, const Numbers& own) {
  return base.queue ? own.burst.has_value() : own.queue.has_value();
}

Numbers without_other_kind(const Numbers& base, Numbers own) {
  if (base.queue) own.burst.reset();
  if (!base.queue) own.queue.reset();
  return own;
}

void report_numbers(const NumbersError& error, Mark otherwise, const std::string& called, Problems& problems) {
  const bool candidate = !called.empty();
  const std::string_view inherits = !error.at && candidate ? " (its limit has none to inherit)" : "";
  problems.error(error.at.value_or(otherwise), fmt::format("{}{}{}", called, error.message, inherits));
}

}  // namespace

std::vector<TierNumbers> find_tiers(const std::vector<TierOverrideSpec>& overrides, const Tiers& tiers,
                                    Problems& problems) {
  std::vector<TierNumbers> found;
  for (const TierOverrideSpec& spec : overrides) {
    const auto tier = tiers.find(spec.tier.value);
    if (tier) {
      found.push_back({&spec, *tier});
    } else {
      problems.error(spec.tier.at, fmt::format("tier {} is not in tiers.names{}", quoted(spec.tier.value),
                                               did_you_mean(spec.tier.value, tiers.names)));
    }
  }
  return found;
}

std::optional<TieredLimit> compile_tiers(const Numbered& numbered, const Tiers& tiers, const Owner& owner,
                                         Problems& problems) {
  const auto base = make_limit(numbered.algorithm, numbered.numbers);
  if (!base) {
    report_numbers(base.error(), owner.at, owner.called, problems);
    return {};
  }
  TieredLimit limits;
  limits.by_tier.assign(tiers.names.size(), *base);
  bool good = true;
  for (const auto& [spec, tier] : numbered.overrides) {
    if (spec->unlimited) {
      limits.by_tier[tier].reset();
      continue;
    }
    const std::string called = fmt::format("{}tier {}: ", owner.called, quoted(spec->tier.value));
    Numbers own = numbers_of(spec->numbers);
    if (numbered.overrides_of_another) {
      own = without_other_kind(numbered.numbers, std::move(own));
    } else if (changes_kind(numbered.numbers, own)) {
      problems.error(spec->tier.at, fmt::format("{}the limit is a {}, and so it is for every tier: write {}", called,
                                                numbered.numbers.queue ? "queue" : "meter",
                                                numbered.numbers.queue ? "queue" : "burst"));
      good = false;
      continue;
    }
    const auto limit = make_limit(numbered.algorithm, inherited(own, numbered.numbers));
    if (limit) {
      limits.by_tier[tier] = *limit;
    } else {
      // What is wrong may be a number that the tier inherits: the mistake is still that of the tier.
      problems.error(spec->tier.at, called + limit.error().message);
      good = false;
    }
  }
  if (!good) return {};
  return limits;
}

}  // namespace weir::policy
