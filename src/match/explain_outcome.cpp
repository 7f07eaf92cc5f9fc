#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "match/explain.h"
#include "policy/words.h"

namespace weir::match {
namespace {

using policy::CompiledLimit;
using policy::KeyPart;
using policy::Mode;

// The statuses of answer/answer.h. A test in tests/embedded verifies that they agree.
constexpr unsigned passes = 200;
constexpr unsigned forbidden = 403;
constexpr unsigned too_many = 429;

ExplainedOutcome denied(unsigned status, std::uint32_t limit, std::string_view why) {
  return {.admitted = false, .status = status, .limit = limit, .text = fmt::format("Denied ({}): {}", status, why)};
}

ExplainedOutcome admitted(std::string_view how) {
  return {.admitted = true, .status = passes, .limit = no_limit, .text = fmt::format("Admitted ({}){}", passes, how)};
}

std::string noun_of(const KeyPart& part) {
  switch (part.kind) {
    case KeyPart::Kind::user:
      return "a user";
    case KeyPart::Kind::api_key:
      return "an API key";
    case KeyPart::Kind::ip:
      return "an address";
    case KeyPart::Kind::header:
      return "the header " + part.name;
    case KeyPart::Kind::identity:
      return "the identity " + part.name;
    case KeyPart::Kind::global:
    case KeyPart::Kind::route:
      break;
  }
  return "";  // every request has it
}

// Lists what a key requires: `a user or an API key`, or for combined parts `a user and the header x-team`.
std::string needs_of(const policy::ConsumerKey& key) {
  std::vector<std::string> alternatives;
  for (const std::vector<KeyPart>& parts : key.alternatives) {
    std::vector<std::string> nouns;
    for (const KeyPart& part : parts) {
      if (std::string noun = noun_of(part); !noun.empty()) nouns.push_back(std::move(noun));
    }
    alternatives.push_back(fmt::format("{}", fmt::join(nouns, " and ")));
  }
  return fmt::format("{}", fmt::join(alternatives, " or "));
}

ExplainedOutcome denied_outright(const policy::Ruleset& ruleset, const Matched& matched) {
  if (matched.denied_by == by_block) return denied(forbidden, no_limit, "an operator blocked this client");
  const CompiledLimit& limit = ruleset.limits[matched.denied_by];
  if (matched.denied_for == Exemption::key_missing) {
    return denied(forbidden, matched.denied_by,
                  fmt::format("{} requires {}", limit.name, needs_of(limit.consumer_key)));
  }
  const auto exempt = std::ranges::find(matched.exempt, matched.denied_by, &Matched::Exempt::limit);
  if (exempt != matched.exempt.end() && exempt->exception != 0) {
    return denied(forbidden, matched.denied_by, fmt::format("an override of {} bans this consumer", limit.name));
  }
  const bool bans_all = std::ranges::find(limit.live.banned, false) == limit.live.banned.end();
  const std::string whom =
      bans_all ? "every request" : fmt::format("tier '{}'", ruleset.tiers.names[matched.caller.tier]);
  return denied(forbidden, matched.denied_by, fmt::format("{} bans {}", limit.name, whom));
}

// Formats a list of limits: `login-by-ip`, `one of login-by-ip and everyone`, `one of 5 limits`.
std::string one_of(const std::vector<std::string>& names) {
  constexpr std::size_t few = 3;
  if (names.size() == 1) return names.front();
  if (names.size() > few) return fmt::format("one of {} limits", names.size());
  return "one of " + policy::list_text(names);
}

}  // namespace

ExplainedOutcome explain_outcome(const policy::Ruleset& ruleset, const Matched& matched) {
  if (matched.denied_by != no_limit) return denied_outright(ruleset, matched);
  std::vector<std::string> live;
  std::vector<std::string> shadow;
  std::string held;
  std::string queue;
  for (const MatchedLimit& each : matched.limits) {
    const CompiledLimit& limit = ruleset.limits[each.limit];
    const std::optional<Limit>& numbers =
        each.replaced != nullptr ? each.replaced->numbers : limit.live.by_tier[matched.caller.tier];
    if (limit.mode == Mode::shadow || !numbers) {  // a tier without live numbers is counted only by the candidate
      shadow.push_back(limit.name);
      continue;
    }
    if (each.cost.units() > numbers->capacity() && !limit.warn_first) {
      return denied(too_many, each.limit,
                    fmt::format("cost {} exceeds the maximum that {} admits at once, {}", each.cost.units(), limit.name,
                                numbers->capacity()));
    }
    live.push_back(limit.name);
    if (numbers->algorithm() == Algorithm::concurrency && held.empty()) held = limit.name;
    if (numbers->algorithm() == Algorithm::leaky_bucket_queue && queue.empty()) queue = limit.name;
  }
  if (live.size() > max_limits) {
    return denied(forbidden, no_limit,
                  fmt::format("{} limits cover it, and at most {} are evaluated together", live.size(), max_limits));
  }
  if (live.empty()) {
    if (shadow.empty()) return admitted(": no limit covers it");
    return admitted(": covered in shadow mode only, by " + policy::list_text(shadow));
  }
  const std::string delayed = queue.empty() ? "" : fmt::format("; may wait in the queue of {}", queue);
  const std::string without =
      held.empty() ? "" : fmt::format("; without a receipt, {} denies it ({})", held, forbidden);
  return admitted(fmt::format(" unless {} is exceeded ({}){}{}", one_of(live), too_many, delayed, without));
}

}  // namespace weir::match
