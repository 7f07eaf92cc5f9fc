#include "policy/roster.h"

#include <fmt/core.h>

#include "policy/strictness.h"
#include "policy/words.h"

namespace weir::policy {
namespace {

std::string tiers_text(const CompiledLimit& limit, const Tiers& tiers) {
  std::string text;
  for (std::size_t tier = 1; tier < limit.live.by_tier.size(); ++tier) {
    if (terms_of(limit.live, tier) == terms_of(limit.live, 0)) continue;
    text += fmt::format("; {} {}", tiers.names[tier], numbers_text(limit.live, tier));
  }
  return text;
}

// All that is the same for every route of a limit.
std::string terms_text(const CompiledLimit& limit, const Tiers& tiers) {
  std::string text = limit.live.bans(0) ? std::string(banned_text)
                                        : fmt::format("{} {}", name_of(limit.algorithm), numbers_text(limit.live, 0));
  if (!limit.by_descriptor()) text += " by " + text_of(limit.consumer_key);
  if (limit.when.kind != When::Kind::always) text += " when " + text_of(limit.when);
  if (limit.mode == Mode::shadow) text += ", in shadow";
  text += tiers_text(limit, tiers);
  if (limit.candidate) {
    text += fmt::format("; candidate {} {}", name_of(limit.candidate_algorithm.value_or(limit.algorithm)),
                        numbers_text(*limit.candidate, 0));
  }
  return text;
}

}  // namespace

std::vector<std::string> roster(const Ruleset& ruleset) {
  std::vector<std::string> lines;
  for (const CompiledLimit& limit : ruleset.limits) {
    const std::string terms = terms_text(limit, ruleset.tiers);
    const std::string elsewhere = limit.by_descriptor() ? "domain " + limit.domain : "every request";
    if (limit.routes.empty()) lines.push_back(fmt::format("{}: {}: {}", limit.name, elsewhere, terms));
    for (const RouteTemplate& route : limit.routes) {
      lines.push_back(fmt::format("{}: {}: {}", limit.name, route.text(), terms));
    }
  }
  return lines;
}

}  // namespace weir::policy
