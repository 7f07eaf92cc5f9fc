// Queries one limit by name for one consumer given as text, without a request. The query is evaluated as if this limit
// alone covered it; the limit's routes and `when` are ignored.
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
  std::string_view consumer{};  // parsed by consumer.h
  std::string_view tier{};      // empty: the default
  std::optional<Cost> cost{};   // used if the limit sets none
  Duration max_wait = Duration::max();
  bool peek = false;              // charge nothing
  bool wants_more_after = false;  // fill Decision::more_after
  bool wants_holdings = false;    // fill the holdings; the cost is then zero
  // Rejects an ambiguous consumer, for peeks and resets. Decisions use the first match instead, because an untrusted
  // name must not cause an error.
  bool one_meaning = false;
};

// The limit and consumer of a NamedQuery.
struct Named {
  std::uint32_t limit = 0;  // index in Ruleset::limits
  std::uint32_t route = 0;  // index in Matcher::routes_of(limit): the consumer's, or `other`
  bool is_shared = false;
};

// Writes the consumer's key, encoded by consumer.h, into `key`.
[[nodiscard]] Result<Named> read_named(const Matcher& matcher, const NamedQuery& ask, std::string& key);

// Matches like a query that this limit alone covers. Overwrites `matched`, reusing its memory.
[[nodiscard]] Result<void> match_named(const Matcher& matcher, const NamedQuery& ask, Matched& matched,
                                       const ExceptionsAt& exceptions = {});

}  // namespace weir::match
