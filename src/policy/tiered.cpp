#include "policy/tiered.h"

#include <algorithm>
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

// What a tier does not say itself. A ban has no numbers to inherit: whether its tiers are queues, the first one says.
Numbers base_of(const Numbered& numbered) {
  if (!numbered.banned) return numbered.numbers;
  const auto first = std::find_if(numbered.overrides.begin(), numbered.overrides.end(),
                                  [](const TierNumbers& own) { return own.spec->has_numbers(); });
  Numbers base;
  if (first != numbered.overrides.end()) base.queue = numbers_of(first->spec->numbers).queue;
  return base;
}

// The numbers of one override, in the place of those of the limit.
bool put_tier(const Numbered& numbered, const TierNumbers& own, const Owner& owner, TieredLimit& limits,
              Problems& problems) {
  const auto& [spec, tier] = own;
  limits.banned[tier] = spec->bans();
  limits.by_tier[tier].reset();
  limits.rates[tier].reset();
  if (!spec->has_numbers()) return true;
  const std::string called = fmt::format("{}tier {}: ", owner.called, quoted(spec->tier.value));
  const Numbers base = base_of(numbered);
  Numbers numbers = numbers_of(spec->numbers);
  if (numbered.overrides_of_another) {
    numbers = without_other_kind(base, std::move(numbers));
  } else if (changes_kind(base, numbers)) {
    problems.error(spec->tier.at, fmt::format("{}the limit is a {}, and so it is for every tier: write {}", called,
                                              base.queue ? "queue" : "meter", base.queue ? "queue" : "burst"));
    return false;
  }
  numbers = inherited(numbers, base);
  const auto limit = make_limit(numbered.algorithm, numbers);
  if (!limit) {
    // What is wrong may be a number that the tier inherits: the mistake is still that of the tier.
    problems.error(spec->tier.at, called + limit.error().message);
    return false;
  }
  limits.by_tier[tier] = *limit;
  limits.rates[tier] = written_rate(numbered.algorithm, numbers);
  return true;
}

}  // namespace

std::vector<TierNumbers> find_tiers(const std::vector<TierOverrideSpec>& overrides, NamedTiers tiers,
                                    Problems& problems) {
  std::vector<TierNumbers> found;
  for (const TierOverrideSpec& spec : overrides) {
    const auto tier = tiers.tiers.find(spec.tier.value);
    if (tier) {
      found.push_back({&spec, *tier});
    } else {
      problems.error(spec.tier.at, fmt::format("tier {} is not in {}.names{}", quoted(spec.tier.value), tiers.field,
                                               did_you_mean(spec.tier.value, tiers.tiers.names)));
    }
  }
  return found;
}

std::optional<TieredLimit> compile_tiers(const Numbered& numbered, const Tiers& tiers, const Owner& owner,
                                         Problems& problems) {
  TieredLimit limits;
  const std::size_t count = tiers.names.size();
  if (numbered.banned) {
    limits.by_tier.resize(count);
    limits.banned.assign(count, true);
    limits.rates.resize(count);
  } else if (const auto base = make_limit(numbered.algorithm, numbered.numbers)) {
    limits.by_tier.assign(count, *base);
    limits.banned.resize(count);
    limits.rates.assign(count, written_rate(numbered.algorithm, numbered.numbers));
  } else {
    report_numbers(base.error(), owner.at, owner.called, problems);
    return {};
  }
  bool good = true;
  for (const TierNumbers& own : numbered.overrides) good = put_tier(numbered, own, owner, limits, problems) && good;
  if (!good) return {};
  if (std::find(limits.banned.begin(), limits.banned.end(), true) == limits.banned.end()) limits.banned.clear();
  return limits;
}

}  // namespace weir::policy
