#include <algorithm>
#include <optional>

#include <fmt/core.h>

#include "policy/diff/parts.h"
#include "policy/strictness.h"
#include "policy/words.h"

namespace weir::policy::diff_parts {
namespace {

// The numbers of a tier, with the words for them.
struct Told {
  const TieredLimit* limits = nullptr;
  std::size_t tier = 0;
  Terms terms;
};

Told told(const std::string& tier, const Tiers& tiers, const TieredLimit& limits) {
  const std::size_t index = index_of(tier, tiers);
  return {&limits, index, terms_of(limits, index)};
}

std::string text_of(const Told& side) {
  return numbers_text(*side.limits, side.tier);
}

// Tiers for which the same numbers become the same others.
struct Group {
  std::vector<std::string> tiers;
  Told before;
  Told after;

  [[nodiscard]] bool differs() const { return before.terms != after.terms; }
  [[nodiscard]] bool both_have_numbers() const { return before.terms.numbers && after.terms.numbers; }
};

std::vector<Group> groups(const std::vector<std::string>& tiers, const Side& before, const Side& after,
                          const TieredLimit& old_limit, const TieredLimit& new_limit) {
  std::vector<Group> groups;
  for (const std::string& tier : tiers) {
    const Told was = told(tier, before.ruleset.tiers, old_limit);
    const Told is = told(tier, after.ruleset.tiers, new_limit);
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      return group.before.terms == was.terms && group.after.terms == is.terms;
    });
    if (same != groups.end()) {
      same->tiers.push_back(tier);
    } else {
      groups.push_back({{tier}, was, is});
    }
  }
  return groups;
}

// Both sides with the algorithm when it is another; what it is for the unlimited and the banned, nobody has to know.
Texts texts_of(const Group& group, PolicyAlgorithm old_algorithm, PolicyAlgorithm new_algorithm) {
  if (!group.both_have_numbers()) return {text_of(group.before), text_of(group.after)};
  if (group.before.terms.numbers->algorithm() == group.after.terms.numbers->algorithm()) {
    return numbers_texts(spelled(*group.before.limits, group.before.tier),
                         spelled(*group.after.limits, group.after.tier));
  }
  return {fmt::format("{} {}", name_of(old_algorithm), text_of(group.before)),
          fmt::format("{} {}", name_of(new_algorithm), text_of(group.after))};
}

bool starts_afresh(const Group& group) {
  if (!group.both_have_numbers()) return false;
  const Limit& was = *group.before.terms.numbers;
  const Limit& is = *group.after.terms.numbers;
  if (was.algorithm() != is.algorithm()) return true;
  return was.algorithm() >= Algorithm::fixed_window && was.rate().per != is.rate().per;
}

std::string candidate_text(const CompiledLimit& limit) {
  return fmt::format("{} {}", name_of(limit.candidate_algorithm.value_or(limit.algorithm)),
                     numbers_text(*limit.candidate, 0));
}

}  // namespace

std::vector<std::string> all_tiers(const Ruleset& before, const Ruleset& after) {
  std::vector<std::string> tiers = before.tiers.names;
  for (const std::string& name : after.tiers.names) {
    if (std::find(tiers.begin(), tiers.end(), name) == tiers.end()) tiers.push_back(name);
  }
  return tiers;
}

std::size_t index_of(const std::string& tier, const Tiers& tiers) noexcept {
  return tiers.find(tier).value_or(0);
}

void compare_numbers(const Side& before, const Side& after, Changes& changes) {
  const auto all = groups(all_tiers(before.ruleset, after.ruleset), before, after, before.limit.live, after.limit.live);
  for (const Group& group : all) {
    if (!group.differs()) continue;
    const Texts texts = texts_of(group, before.limit.algorithm, after.limit.algorithm);
    const std::string who = all.size() == 1 ? "" : list_text(group.tiers) + " ";
    const std::string_view afresh = starts_afresh(group) ? ", states start afresh" : "";
    changes.push_back({after.limit.name, fmt::format("{}{} -> {}{}", who, texts.before, texts.after, afresh),
                       direction_of(at_least_as_strict(group.after.terms, group.before.terms),
                                    at_least_as_strict(group.before.terms, group.after.terms))});
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
      if (!group.differs()) continue;
      const Texts texts = texts_of(group, old_algorithm, new_algorithm);
      const std::string who = all.size() == 1 ? "" : list_text(group.tiers) + " ";
      tell(fmt::format("candidate {}{} -> {}", who, texts.before, texts.after));
    }
  }
}

}  // namespace weir::policy::diff_parts
