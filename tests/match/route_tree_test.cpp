// Tests which limits cover a request, and by which routes.
#include "match/route_tree.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/match/routes.h"

namespace weir::match {
namespace {

using Covering = std::map<std::uint32_t, std::vector<std::string>>;
using Limits = std::set<std::uint32_t>;

TEST(RouteTree, EveryLimitWithAMatchingRouteCovers) {
  Routes routes{{"/api/**"}, {"/api/v1/{x}"}, {"GET /api/v1/search"}, {"POST /api/v1/search"}, {"/other"}};
  EXPECT_EQ(routes.covering("GET", "/api/v1/search"),
            (Covering{{0, {"/api/**"}}, {1, {"/api/v1/{x}"}}, {2, {"GET /api/v1/search"}}}));
  EXPECT_EQ(routes.covering("PUT", "/api/v1/7"), (Covering{{0, {"/api/**"}}, {1, {"/api/v1/{x}"}}}));
  EXPECT_EQ(routes.covering("PUT", "/api/v1/7/8"), (Covering{{0, {"/api/**"}}}));
  EXPECT_EQ(routes.covering("PUT", "/"), Covering{});
}

TEST(RouteTree, MostSpecificRouteOfALimitCounts) {
  Routes routes{{"/**", "/a/**", "/a/{x}", "/a/b", "POST /a/b", "/{x}/b", "POST /{x}/b", "/a"}};
  struct Row {
    std::string_view method;
    std::string_view target;
    std::string route;
  };
  for (const Row& row : {
           Row{"POST", "/a/b", "POST /a/b"},
           Row{"GET", "/a/b", "/a/b"},
           Row{"GET", "/a/c", "/a/{x}"},
           Row{"GET", "/a/c/d", "/a/**"},
           Row{"GET", "/a", "/a"},
           Row{"POST", "/c/b", "POST /{x}/b"},
           Row{"GET", "/c/b", "/{x}/b"},
           Row{"GET", "/c/c", "/**"},
           Row{"GET", "/", "/**"},
       }) {
    EXPECT_EQ(routes.covering(row.method, row.target), (Covering{{0, {row.route}}})) << row.target;
    EXPECT_EQ(routes.label(row.method, row.target), row.route) << row.target;
  }
}

TEST(RouteTree, LiteralComesFirstFromTheLeft) {
  Routes routes{{"/{x}/b", "POST /{x}/b"}, {"/a/{y}"}};
  EXPECT_EQ(routes.covering("POST", "/a/b"), (Covering{{0, {"POST /{x}/b"}}, {1, {"/a/{y}"}}}));
  EXPECT_EQ(routes.label("POST", "/a/b"), "/a/{y}");
}

TEST(RouteTree, CrossingParametersAreAllFollowed) {
  Routes routes{{"/a/b/{z}"}, {"/a/{y}/c"}, {"/{x}/b/c"}, {"/{x}/{y}/{z}"}, {"/a/b/d"}, {"/{x}/**"}};
  EXPECT_EQ(routes.limits("GET", "/a/b/c"), (Limits{0, 1, 2, 3, 5}));
  EXPECT_EQ(routes.limits("GET", "/a/c/c"), (Limits{1, 3, 5}));
  EXPECT_EQ(routes.limits("GET", "/a/b/d"), (Limits{0, 3, 4, 5}));
}

TEST(RouteTree, WildcardMatchesNoSegmentToo) {
  Routes routes{{"/api/**"}};
  for (const std::string_view target : {"/api", "/api/", "/api/x/y", "/API/%2e%2e/x"}) {
    EXPECT_EQ(routes.limits("GET", target), Limits{0}) << target;
  }
  EXPECT_EQ(routes.limits("GET", "/apix"), Limits{});
  EXPECT_EQ(routes.limits("GET", "/"), Limits{});
}

TEST(RouteTree, WildcardMatchesPathsOfAnyDepth) {
  Routes routes{{"/api/**"}, {"/**"}, {"/api/a/{x}"}};
  std::string deep = "/api";
  while (deep.size() + 2 < PathReader::max_length) deep += "/a";
  EXPECT_EQ(routes.limits("GET", deep), (Limits{0, 1}));
  EXPECT_EQ(routes.label("GET", deep), "/api/**");
}

TEST(RouteTree, HeadCountsAsGet) {
  Routes routes{{"GET /a"}, {"HEAD /a"}, {"/a"}, {"HEAD /b", "GET /b"}};
  EXPECT_EQ(routes.limits("HEAD", "/a"), (Limits{0, 1, 2}));
  EXPECT_EQ(routes.limits("head", "/a"), (Limits{0, 1, 2}));
  EXPECT_EQ(routes.limits("GET", "/a"), (Limits{0, 2}));
  EXPECT_EQ(routes.covering("HEAD", "/b"), (Covering{{3, {"HEAD /b"}}}));
  EXPECT_EQ(routes.covering("GET", "/b"), (Covering{{3, {"GET /b"}}}));
}

TEST(RouteTree, MethodIsComparedInUpperCase) {
  Routes routes{{"POST /a"}, {"x-purge /a"}};
  EXPECT_EQ(routes.limits("post", "/a"), Limits{0});
  EXPECT_EQ(routes.limits("PoSt", "/a"), Limits{0});
  EXPECT_EQ(routes.limits("X-Purge", "/a"), Limits{1});
}

TEST(RouteTree, UnknownMethodMatchesRoutesWithoutOneAndAMissingMethodMatchesAll) {
  Routes routes{{"POST /a"}, {"/a"}};
  EXPECT_EQ(routes.limits("BREW", "/a"), Limits{1});
  EXPECT_EQ(routes.limits(std::string(1000, 'P'), "/a"), Limits{1});
  EXPECT_EQ(routes.limits("", "/a"), (Limits{0, 1}));
}

TEST(RouteTree, MethodThatIsNotATokenMayBeAny) {
  Routes routes{{"POST /a"}, {"/a"}};
  for (const std::string_view method : {"POST ", " ", "PO ST", "POST\r\n", "P\xC3\x96ST", "POST,GET", "\xFF"}) {
    EXPECT_EQ(routes.limits(method, "/a"), (Limits{0, 1})) << method;
  }
  EXPECT_EQ(routes.limits(std::string(1000, ' '), "/a"), (Limits{0, 1}));
  EXPECT_EQ(routes.limits("PATCH", "/a"), Limits{1});
}

TEST(RouteTree, EveryRouteThatAReadingMatchesIsGiven) {
  Routes routes{{"/files/{id}", "/files/{dir}/{name}"}, {"/search", "/ping"}};
  EXPECT_EQ(routes.covering("GET", "/files/a%2Fb"), (Covering{{0, {"/files/{id}", "/files/{dir}/{name}"}}}));
  // Tomcat serves /search here, a server without path parameters /ping.
  EXPECT_EQ(routes.covering("GET", "/search;%2F..%2F..%2Fping"), (Covering{{1, {"/search", "/ping"}}}));
}

TEST(RouteTree, UnreadablePathMatchesEveryLimitOfItsMethod) {
  Routes routes{{"POST /login", "GET /login"}, {"/api/**"}, {"GET /x"}};
  const std::string target = "/" + std::string(PathReader::max_length, 'x');
  EXPECT_EQ(routes.covering("POST", target), (Covering{{0, {"other"}}, {1, {"other"}}}));
  EXPECT_EQ(routes.covering("HEAD", target), (Covering{{0, {"other"}}, {1, {"other"}}, {2, {"other"}}}));
  EXPECT_EQ(routes.label("POST", target), "other");
}

// Each `a` can be a literal or a parameter, and each empty segment something or nothing.
TEST(RouteTree, TooManyReadingsMatchEveryLimit) {
  std::vector<RoutesOfLimit> limits{{"/elsewhere"}};
  for (unsigned choices = 0; choices < 256; ++choices) {
    std::string text;
    for (unsigned i = 0; i < 8; ++i) text += (choices >> i & 1U) != 0 ? "/a" : "/*";
    limits.push_back({text});
  }
  Routes routes(limits);
  EXPECT_EQ(routes.limits("GET", "/a/a/a/a/a/a/a/a").size(), 256U);  // plain: exact
  EXPECT_EQ(routes.limits("GET", "/a//a//a//a//a//a//a//a").size(), 257U);
  EXPECT_EQ(routes.label("GET", "/a//a//a//a//a//a//a//a"), "other");
}

TEST(RouteTree, WithoutRoutesMatchesNothing) {
  Routes routes(std::span<const RoutesOfLimit>{});
  EXPECT_TRUE(routes.match("GET", "/").all().empty());
  EXPECT_TRUE(routes.match("GET", "/a/../b").all().empty());
  EXPECT_TRUE(routes.match("GET", "/a\n").all().empty());
  EXPECT_EQ(routes.match("GET", "/a").label(), no_route);
}

TEST(RouteTree, SameRouteInSeveralLimitsCoversByAll) {
  Routes routes{{"/a/{x}"}, {"/a/{y}"}, {"/a/*", "/A/{z}"}};
  EXPECT_EQ(routes.covering("GET", "/a/1"), (Covering{{0, {"/a/{x}"}}, {1, {"/a/{y}"}}, {2, {"/a/*"}}}));
}

TEST(RouteTree, ThousandLimitsOnOneRouteAreAllGiven) {
  std::vector<RoutesOfLimit> limits(1000, {"/api/**", "/api/x"});
  Routes routes(limits);
  EXPECT_EQ(routes.match("GET", "/api/x").all().size(), 1000U);
  EXPECT_EQ(routes.match("GET", "/api/y").all().size(), 1000U);
  EXPECT_EQ(routes.match("GET", "/z").all().size(), 0U);
}

}  // namespace
}  // namespace weir::match
