// A question about one limit by its name and one consumer in words, without a request: for programs that know
// themselves what they limit.
//
// It is evaluated as a query would be that this limit alone covers; the limit's routes and `when` are not asked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "match/matcher.h"
#include "weir/cost.h"
#include "weir/result.h"
#include "weir/time.h"

namespace weir::match {

struct NamedQuery {
  std::string_view limit;
  std::string_view consumer{};  // as consumer.h reads it
  std::string_view tier{};      // empty: the default
  std::optional<Cost> cost{};   // where the limit writes none
  Duration max_wait = Duration::max();
  bool peek = false;              // only look, charge nothing
  bool wants_more_after = false;  // of the decision
  bool wants_holdings = false;    // of a look, which costs nothing then: what the store knows beside
  // A consumer whose words could mean two is refused: for looks and resets. Where requests are decided they are
  // read as the first that they fit, because a name that a stranger chose must not become an error.
  bool one_meaning = false;
};

// The limit and the consumer that are meant.
struct Named {
  std::uint32_t limit = 0;  // of Ruleset::limits
  std::uint32_t route = 0;  // of Matcher::routes_of(limit): the consumer's own, or `other`
  bool is_shared = false;
};

// Writes the consumer's key, as consumer.h does, into `key`.
[[nodiscard]] Result<Named> read_named(const Matcher& matcher, const NamedQuery& ask, std::string& key);

// As if a query had come that this limit alone covers. Overwrites `matched`, reusing its memory.
[[nodiscard]] Result<void> match_named(const Matcher& matcher, const NamedQuery& ask, Matched& matched);

}  // namespace weir::match
