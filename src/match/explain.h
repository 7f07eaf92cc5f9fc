// Explains which limits of a policy cover a query, and why the others do not. Reads no states and charges nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
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
  std::uint32_t limit = 0;  // index in Ruleset::limits
  bool covers = false;
  bool bans = false;               // denies the query without counting it
  std::string why_not;             // set if it does not cover the query
  std::string route;               // the matching template; empty if the limit has no routes
  std::string consumer;            // `user=alice`
  std::optional<Limit> numbers;    // numbers of the override or the tier; unset: unlimited
  std::optional<Limit> candidate;  // the candidate's numbers for the tier
  Cost cost;
  ExceptionNumber exception = 0;  // the override that applies to the consumer; zero: none
};

// The answer to the query as far as the policy alone determines it, without any usage.
struct ExplainedOutcome {
  bool admitted = true;  // false: denied regardless of usage
  unsigned status = 200;
  std::uint32_t limit = no_limit;  // the denying limit
  std::string text;                // `Denied (403): monthly-quota requires a user`
};

struct Explanation {
  ExplainedOutcome outcome;
  std::string route;  // the label: the most specific template, or `other`
  Caller caller;
  std::string tier;
  std::string exempt;  // why no limit covers the request: `address 10.1.2.3 is exempt`; empty if limits may
  std::vector<std::pair<std::string, std::string>> identities;  // the named ones that the caller has: (name, value)
  std::vector<std::string> ignored_headers;                     // as sent; read from trusted proxies only
  std::vector<LimitExplanation> limits;                         // in file order
  ExceptionNumber block = 0;  // the operator's block that denies the query; zero: none
};

[[nodiscard]] Explanation explain(const Matcher& matcher, const Query& query, const ExceptionsAt& exceptions = {});

// Defined in explain_outcome.cpp.
[[nodiscard]] ExplainedOutcome explain_outcome(const policy::Ruleset& ruleset, const Matched& matched);

// The input of explanation_json(), for `weir explain --format json` and POST /v1/explain.
struct ExplainedRequest {
  const policy::Ruleset& ruleset;
  const Query& query;
  const Explanation& explanation;
  std::uint64_t nodes;                                     // number of nodes that share the store
  std::function<std::string(ExceptionNumber)> id_of = {};  // returns the id of an exception; unset: there are none
};

// {"outcome": {"admitted", "status", "limit", "text"}, "request": {...}, "caller": {...}, "limits": [{"name", "covers",
// ...}...]}
[[nodiscard]] std::string explanation_json(const ExplainedRequest& explained, text::JsonWriter::Layout layout);

}  // namespace weir::match
