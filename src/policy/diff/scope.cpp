#include <algorithm>
#include <string_view>

#include <fmt/core.h>

#include "policy/coverage.h"
#include "policy/diff/parts.h"
#include "policy/words.h"

namespace weir::policy::diff_parts {
namespace {

// Routes of `some` that are not among `others`, apart by whether `others` cover them all the same.
struct Apart {
  std::vector<RouteTemplate> covered;
  std::vector<RouteTemplate> uncovered;
};

Apart only_in(const std::vector<RouteTemplate>& some, const std::vector<RouteTemplate>& others) {
  Apart apart;
  for (const RouteTemplate& route : some) {
    const bool is_there =
        std::any_of(others.begin(), others.end(), [&](const RouteTemplate& other) { return same_route(route, other); });
    if (!is_there) (covers_route(others, route) ? apart.covered : apart.uncovered).push_back(route);
  }
  return apart;
}

void compare_routes(const Side& before, const Side& after, Changes& changes) {
  const auto& was = before.limit.routes;
  const auto& is = after.limit.routes;
  const auto tell = [&](std::string sentence, Direction direction) {
    changes.push_back({after.limit.name, std::move(sentence), direction});
  };
  // Where routes are part of the key, one more or less among those that are covered splits or joins counters.
  const bool is_key = has_part(before.limit.consumer_key, KeyPart::Kind::route) ||
                      has_part(after.limit.consumer_key, KeyPart::Kind::route);
  const auto unless_key = [&](Direction direction) { return is_key ? Direction::different : direction; };
  if (was.empty() != is.empty()) {
    tell(fmt::format("{} -> {}", routes_text(was), routes_text(is)),
         unless_key(direction_of(covers_routes(is, was), covers_routes(was, is))));
    return;
  }
  const Apart removed = only_in(was, is);
  const Apart added = only_in(is, was);
  const auto tell_routes = [&](const std::vector<RouteTemplate>& routes, std::string_view what, Direction direction) {
    if (!routes.empty()) tell(fmt::format("{} {}", routes_text(routes), what), direction);
  };
  tell_routes(removed.uncovered, "no longer covered", Direction::looser);
  tell_routes(added.uncovered, "covered now", Direction::tighter);
  tell_routes(removed.covered, "not listed any more, still covered", unless_key(Direction::neutral));
  tell_routes(added.covered, "listed now, covered before", unless_key(Direction::neutral));
}

}  // namespace

void compare_scope(const Side& before, const Side& after, Changes& changes) {
  const CompiledLimit& was = before.limit;
  const CompiledLimit& is = after.limit;
  compare_routes(before, after, changes);
  if (was.when != is.when) {
    changes.push_back({is.name, fmt::format("when {} -> {}", text_of(was.when), text_of(is.when)),
                       direction_of(includes(is.when, was.when), includes(was.when, is.when))});
  }
  if (was.consumer_key != is.consumer_key) {
    const Consumers old_consumers{was.consumer_key, was.missing};
    const Consumers new_consumers{is.consumer_key, is.missing};
    changes.push_back(
        {is.name,
         fmt::format("counts by {} -> {}, states start afresh", text_of(was.consumer_key), text_of(is.consumer_key)),
         direction_of(at_least_as_coarse(new_consumers, old_consumers),
                      at_least_as_coarse(old_consumers, new_consumers))});
  }
  if (was.missing == is.missing) return;
  // Where no request lacks the key it says nothing; and it follows the kind of the key where it is not written.
  const bool old_matters = !is_never_missing(was.consumer_key);
  const bool new_matters = !is_never_missing(is.consumer_key);
  if (was.consumer_key != is.consumer_key && (!old_matters || !new_matters)) return;
  changes.push_back({is.name, fmt::format("missing {} -> {}", name_of(was.missing), name_of(is.missing)),
                     old_matters && new_matters ? direction_of_more(was.missing, is.missing) : Direction::neutral});
}

}  // namespace weir::policy::diff_parts
