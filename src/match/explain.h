// Why a query meets the limits that it meets: each limit of the policy, covered or not, with the reason.
// Consumes nothing, and needs no states.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "match/caller.h"
#include "match/matcher.h"
#include "policy/ruleset.h"
#include "text/json_writer.h"
#include "weir/cost.h"
#include "weir/limit.h"
#include "weir/query.h"

namespace weir::match {

struct LimitExplanation {
  std::uint32_t limit = 0;  // of Ruleset::limits
  bool covers = false;
  bool bans = false;               // it does not count the query, but denies it outright
  std::string why_not;             // if it does not cover the query
  std::string route;               // the template by which it does; empty: it has no routes, so every request
  std::string consumer;            // for people: `user=alice`
  std::optional<Limit> numbers;    // after tiers; empty: unlimited
  std::optional<Limit> candidate;  // after tiers
  Cost cost;
};

// What the answer to the query is, as far as the policy alone decides it: what is used up is not known here.
struct ExplainedOutcome {
  bool admitted = true;  // false: denied whatever is used up
  unsigned status = 200;
  std::uint32_t limit = no_limit;  // that denies
  std::string text;                // `Denied (403): monthly-quota requires a user`
};

struct Explanation {
  ExplainedOutcome outcome;
  std::string route;  // what the request is called: the most specific template, or `other`
  Caller caller;
  std::string tier;
  std::vector<std::string> ignored_headers;  // as sent: what only a trusted proxy may say
  std::vector<LimitExplanation> limits;      // in file order
};

[[nodiscard]] Explanation explain(const Matcher& matcher, const Query& query);

// explain_outcome.cpp: of what matching found.
[[nodiscard]] ExplainedOutcome explain_outcome(const policy::Ruleset& ruleset, const Matched& matched);

// For programs: what `weir explain --format json` prints, and POST /v1/explain answers.
struct ExplainedRequest {
  const policy::Ruleset& ruleset;
  const Query& query;
  const Explanation& explanation;
  std::uint64_t nodes;  // that share the store
};

// {"outcome": {"admitted", "status", "limit", "text"}, "request": {...}, "caller": {...}, "limits": [{"name", "covers",
// ...}...]}
[[nodiscard]] std::string explanation_json(const ExplainedRequest& explained, text::JsonWriter::Layout layout);

}  // namespace weir::match
