#include <algorithm>
#include <optional>

#include <fmt/core.h>

#include "policy/diff/parts.h"
#include "policy/strictness.h"
#include "policy/words.h"

namespace weir::policy::diff_parts {
namespace {

// Tiers for which the same numbers become the same others.
struct Group {
  std::vector<std::string> tiers;
  std::optional<Limit> before;
  std::optional<Limit> after;
};

std::vector<Group> groups(const std::vector<std::string>& tiers, const Side& before, const Side& after,
                          const TieredLimit& old_limit, const TieredLimit& new_limit) {
  std::vector<Group> groups;
  for (const std::string& tier : tiers) {
    const auto was = numbers_for(tier, before.ruleset.tiers, old_limit);
    const auto is = numbers_for(tier, after.ruleset.tiers, new_limit);
    const auto same = std::find_if(groups.begin(), groups.end(),
                                   [&](const Group& group) { return group.before == was && group.after == is; });
    if (same != groups.end()) {
      same->tiers.push_back(tier);
    } else {
      groups.push_back({{tier}, was, is});
    }
  }
  return groups;
}

// Both sides with the algorithm when it is another; what it is for the unlimited, nobody has to know.
Texts texts_of(const Group& group, PolicyAlgorithm old_algorithm, PolicyAlgorithm new_algorithm) {
  if (!group.before || !group.after) return {numbers_text(group.before), numbers_text(group.after)};
  if (group.before->algorithm() == group.after->algorithm()) return numbers_texts(*group.before, *group.after);
  return {fmt::format("{} {}", name_of(old_algorithm), numbers_text(*group.before)),
          fmt::format("{} {}", name_of(new_algorithm), numbers_text(*group.after))};
}

bool starts_afresh(const Group& group) {
  if (!group.before || !group.after) return false;
  if (group.before->algorithm() != group.after->algorithm()) return true;
  return group.before->algorithm() >= Algorithm::fixed_window && group.before->rate().per != group.after->rate().per;
}

std::string candidate_text(const CompiledLimit& limit) {
  const auto& by_tier = limit.candidate->by_tier;
  return fmt::format("{} {}", name_of(limit.candidate_algorithm.value_or(limit.algorithm)),
                     by_tier.empty() ? "unlimited" : numbers_text(by_tier.front()));
}

}  // namespace

std::vector<std::string> all_tiers(const Ruleset& before, const Ruleset& after) {
  std::vector<std::string> tiers = before.tiers.names;
  for (const std::string& name : after.tiers.names) {
    if (std::find(tiers.begin(), tiers.end(), name) == tiers.end()) tiers.push_back(name);
  }
  return tiers;
}

std::optional<Limit> numbers_for(const std::string& tier, const Tiers& tiers, const TieredLimit& limit) {
  const auto found = std::find(tiers.names.begin(), tiers.names.end(), tier);
  const auto index = found == tiers.names.end() ? 0 : static_cast<std::size_t>(found - tiers.names.begin());
  return index < limit.by_tier.size() ? limit.by_tier[index] : std::nullopt;
}

void compare_numbers(const Side& before, const Side& after, Changes& changes) {
  const auto all = groups(all_tiers(before.ruleset, after.ruleset), before, after, before.limit.live, after.limit.live);
  for (const Group& group : all) {
    if (group.before == group.after) continue;
    const Texts texts = texts_of(group, before.limit.algorithm, after.limit.algorithm);
    const std::string who = all.size() == 1 ? "" : list_text(group.tiers) + " ";
    const std::string_view afresh = starts_afresh(group) ? ", states start afresh" : "";
    changes.push_back(
        {after.limit.name, fmt::format("{}{} -> {}{}", who, texts.before, texts.after, afresh),
         direction_of(at_least_as_strict(group.after, group.before), at_least_as_strict(group.before, group.after))});
  }
}

void compare_candidates(const Side& before, const Side& after, Changes& changes) {
  const CompiledLimit& was = before.limit;
  const CompiledLimit& is = after.limit;
  const auto tell = [&](std::string sentence) {
    changes.push_back({is.name, std::move(sentence), Direction::neutral});
  };
  if (was.candidate && !is.candidate) {
    tell(fmt::format("candidate {} removed", candidate_text(was)));
  } else if (!was.candidate && is.candidate) {
    tell(fmt::format("candidate {} added", candidate_text(is)));
  } else if (was.candidate && is.candidate) {
    const auto all = groups(all_tiers(before.ruleset, after.ruleset), before, after, *was.candidate, *is.candidate);
    const auto old_algorithm = was.candidate_algorithm.value_or(was.algorithm);
    const auto new_algorithm = is.candidate_algorithm.value_or(is.algorithm);
    for (const Group& group : all) {
      if (group.before == group.after) continue;
      const Texts texts = texts_of(group, old_algorithm, new_algorithm);
      const std::string who = all.size() == 1 ? "" : list_text(group.tiers) + " ";
      tell(fmt::format("candidate {}{} -> {}", who, texts.before, texts.after));
    }
  }
}

}  // namespace weir::policy::diff_parts
