// The numbers of a limit, or of its candidate, for each tier.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/numbers.h"
#include "policy/problem.h"
#include "policy/ruleset.h"
#include "policy/spec.h"

namespace weir::policy {

// Who has the numbers: where they are not right, and how that begins.
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

[[nodiscard]] std::optional<TieredLimit> compile_tiers(const Numbered& numbered, const Tiers& tiers, const Owner& owner,
                                                       Problems& problems);

}  // namespace weir::policy
