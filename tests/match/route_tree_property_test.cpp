// Compares the tree with naive oracles: it is exact on plain paths, and covers every server's reading of odd ones.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "tests/match/path_readers.h"
#include "tests/match/route_oracle.h"
#include "tests/match/routes.h"

namespace weir::match {
namespace {

using Text = std::string;

template <class... Choices>
Text one_of(Choices... choices) {
  return *rc::gen::element<Text>(choices...);
}

Text any_template() {
  Text text = one_of("", "", "GET ", "POST ", "HEAD ");
  const int length = *rc::gen::inRange(0, 5);
  for (int i = 0; i < length; ++i) text += one_of("/a", "/b", "/c", "/*", "/*");
  text += one_of("", "", "/**");
  return text.empty() || text.back() == ' ' ? text + "/" : text;
}

Routes any_routes() {
  std::vector<RoutesOfLimit> limits(*rc::gen::inRange<std::size_t>(1, 12));
  for (RoutesOfLimit& routes : limits) {
    routes.resize(*rc::gen::inRange<std::size_t>(1, 5));
    for (Text& text : routes) text = any_template();
  }
  return Routes(limits);
}

Text any_method() {
  return one_of("GET", "POST", "HEAD", "PUT");
}

std::map<std::uint32_t, std::uint32_t> by_limit(const Matches& matches) {
  std::map<std::uint32_t, std::uint32_t> result;
  for (const RouteMatch& match : matches.all()) RC_ASSERT(result.emplace(match.limit, match.route).second);
  return result;
}

RC_GTEST_PROP(RouteTreeProperty, PlainPathMatchesWhatTryingEveryRouteMatches, ()) {
  Routes routes = any_routes();
  for (int i = 0; i < 10; ++i) {
    const Text method = any_method();
    Text target = *rc::gen::inRange(0, 4) == 0 ? "/" : "";
    std::vector<SeenSegment> path;
    const int length = *rc::gen::inRange(0, 7);
    for (int k = 0; k < length; ++k) {
      path.push_back({one_of("a", "b", "c", "d")});
      target += (k == 0 && target == "/" ? "" : "/") + *path.back().key;
    }
    if (target.empty()) target = "/";
    const auto expected = oracle_covering(routes.entries(), method, path);
    const Matches& matches = routes.match(method, target);
    const auto found = by_limit(matches);
    RC_ASSERT(found.size() == expected.size());
    for (const auto& [limit, index] : expected) {
      RC_ASSERT(found.contains(limit));
      // Routes may be duplicated.
      RC_ASSERT(policy::same_route(routes.entries()[found.at(limit)].route, routes.entries()[index].route));
    }
    for (const auto& [limit, index] : found) {
      RC_ASSERT(!oracle_precedes(routes.entries()[index].route, routes.entries()[matches.label()].route));
    }
  }
}

Text any_odd_path() {
  Text path;
  const int length = *rc::gen::inRange(1, 9);
  for (int i = 0; i < length; ++i) {
    path += one_of("/", "/", "/", "/", "/", "//", "\\", "%2f", "%2F", "%5c", "%252f", "%255C", "/;x/", "/./", "/../");
    path +=
        one_of("a", "b", "c", "a", "b", "c", "A", "%61", "%2561", "%62", "d", "", ".", "..", "%2e%2e", "%2e", "%252e.",
               "..;x", "a;x", "%61;y", ";x", "%3bx", "a%3Bx", "a%00", "%00", "b%0a", "a%3f", "b#", "%20", "%zz", "%");
  }
  return path.front() == '/' ? path : "/" + path;
}

RC_GTEST_PROP(RouteTreeProperty, NoServerReadsAPathThatEscapes, ()) {
  Routes routes = any_routes();
  for (int i = 0; i < 10; ++i) {
    const Text method = any_method();
    const Text target = any_odd_path();
    const auto found = routes.match(method, target).all();
    const auto is_found = [&](RouteMatch expected) {
      return std::any_of(found.begin(), found.end(), [&](const RouteMatch& match) {
        if (match.limit != expected.limit) return false;
        return match.route == no_route ||
               policy::same_route(routes.entries()[match.route].route, routes.entries()[expected.route].route);
      });
    };
    for (const Server& server : servers()) {
      for (const auto& [limit, route] : oracle_covering(routes.entries(), method, seen_by(server, target))) {
        if (!is_found({limit, route})) {
          RC_FAIL(Text(server.name) + " escapes by " + method + " " + target + " from " +
                  routes.entries()[route].route.text());
        }
      }
    }
  }
}

// Otherwise a free route would be charged for another.
RC_GTEST_PROP(RouteTreeProperty, LimitThatAServerSeesNoRouteOfIsNotInEveryReading, ()) {
  Routes routes = any_routes();
  for (int i = 0; i < 10; ++i) {
    const Text method = any_method();
    const Text target = any_odd_path();
    const Matches& matches = routes.match(method, target);
    for (const Server& server : servers()) {
      const auto covering = oracle_covering(routes.entries(), method, seen_by(server, target));
      for (const RouteEntry& entry : routes.entries()) {
        if (covering.contains(entry.limit) || !matches.in_every_reading(entry.limit)) continue;
        RC_FAIL(Text(server.name) + " sees no route of limit " + std::to_string(entry.limit) + " in " + method + " " +
                target);
      }
    }
  }
}

}  // namespace
}  // namespace weir::match
