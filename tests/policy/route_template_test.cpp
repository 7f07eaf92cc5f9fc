// Tests parsing, error messages and comparison of routes.
#include "policy/route_template.h"

#include <gtest/gtest.h>

#include <string>

namespace weir::policy {
namespace {

using Kind = Segment::Kind;

RouteTemplate route(std::string_view text) {
  auto parsed = parse_route(text);
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message());
  return parsed ? *parsed : RouteTemplate{};
}

std::string refusal(std::string_view text) {
  const auto parsed = parse_route(text);
  return parsed ? "accepted as " + parsed->text() : parsed.error().message();
}

TEST(RouteTemplate, HasMethodLiteralsAndParameters) {
  const RouteTemplate parsed = route("post /Users/{id}/*");
  EXPECT_EQ(parsed.method, "POST");
  EXPECT_EQ(parsed.segments,
            (std::vector<Segment>{
                {Kind::literal, "Users", "users"}, {Kind::parameter, "id", ""}, {Kind::parameter, "", ""}}));
  EXPECT_FALSE(parsed.trailing_wildcard);
}

TEST(RouteTemplate, WildcardIsNoSegment) {
  const RouteTemplate parsed = route("/api/**");
  EXPECT_EQ(parsed.method, std::nullopt);
  EXPECT_EQ(parsed.segments.size(), 1U);
  EXPECT_TRUE(parsed.trailing_wildcard);
}

TEST(RouteTemplate, TextIsOneSpellingForAll) {
  struct Row {
    std::string_view written;
    std::string_view text;
  };
  for (const Row& row : {
           Row{"/", "/"},
           Row{"GET /", "GET /"},
           Row{"/**", "/**"},
           Row{"get \t /a", "GET /a"},
           Row{"/users/{id}", "/users/{id}"},
           Row{"/users/{user-id}/x.y_z", "/users/{user-id}/x.y_z"},
           Row{"/users/", "/users"},  // as Django's documents write it
           Row{"/a/**/", "/a/**"},
           Row{"/caf%c3%a9", "/caf%C3%A9"},
           Row{"/café", "/caf%C3%A9"},
           Row{"/%7Euser/%6Cogin", "/~user/login"},
           Row{"/%256Cogin", "/login"},
           Row{"/a%20b/100%", "/a%20b/100%25"},
           Row{"/%7Bx%7D/%2A", "/%7Bx%7D/%2A"},
           Row{"/a:verb/@me/x,y/(1)", "/a:verb/@me/x,y/(1)"},
           Row{"/:id/a.+/1+1", "/%3Aid/a.%2B/1+1"},  // as a policy would have to write it
           Row{"VERSION-CONTROL /x", "VERSION-CONTROL /x"},
       }) {
    EXPECT_EQ(route(row.written).text(), row.text) << row.written;
    EXPECT_EQ(route(row.text), route(route(row.text).text())) << row.written;
  }
}

TEST(RouteTemplate, MistakesSayWhatToWriteInstead) {
  struct Row {
    std::string_view written;
    std::string_view message;
  };
  for (const Row& row : {
           Row{"", "route '': a route is a path, with or without a method: write 'GET /path' or '/path'"},
           Row{"login", "route 'login': the path must begin with '/': write '/login' or 'METHOD /path'"},
           Row{"GET login", "route 'GET login': the path after the method must begin with '/'"},
           Row{"GET ", "route 'GET ': the path after the method must begin with '/'"},
           Row{"GET,POST /a",
               "route 'GET,POST /a': 'GET,POST' is not a method: write one like GET or POST, then the path"},
           Row{" /a", "route ' /a': '' is not a method: write one like GET or POST, then the path"},
           Row{"/a POST", "route '/a POST': the path contains a space: encode it as %20, and write the method first"},
           Row{"/a?b=c", "route '/a?b=c': a route is a path only: remove the query or fragment ('?', '#')"},
           Row{"/a#b", "route '/a#b': a route is a path only: remove the query or fragment ('?', '#')"},
           Row{"/a\\b", "route '/a\\b': '\\' is not a separator in a route: write '/'"},
           Row{"/a;v=1", "route '/a;v=1': path parameters (';') are not compared: remove them"},
           Row{"/a\x01", "route '/a\x01': a route cannot contain control characters"},
           Row{"//a", "route '//a': empty segment ('//'): write one slash"},
           Row{"//", "route '//': empty segment ('//'): write one slash"},
           Row{"/a//", "route '/a//': empty segment ('//'): write one slash"},
           Row{"/./a", "route '/./a': '.' is a dot segment, and requests are compared without these: remove it"},
           Row{"/a/%2e.",
               "route '/a/%2e.': '%2e.' is a dot segment, and requests are compared without these: remove it"},
           Row{"/a%2Fb", "route '/a%2Fb': 'a%2Fb' contains an encoded slash: write two segments"},
           Row{"/a%255Cb", "route '/a%255Cb': 'a%255Cb' contains an encoded slash: write two segments"},
           Row{"/a%3Bb",
               "route '/a%3Bb': 'a%3Bb' contains an encoded ';', '?', '#' or control character, which servers read "
               "differently: use a parameter, {name}"},
           Row{"/%20", "route '/%20': '%20' is empty to some servers: use a parameter, {name}"},
           Row{"/...", "route '/...': '...' is empty to some servers: use a parameter, {name}"},
           Row{"/**/a", "route '/**/a': ** must be the last segment"},
           Row{"/**/**", "route '/**/**': ** must be the last segment"},
           Row{"/a*", "route '/a*': 'a*': * and ** must be a whole segment (encode an asterisk as %2A)"},
           Row{"/***", "route '/***': '***': * and ** must be a whole segment (encode an asterisk as %2A)"},
           Row{"/{}", "route '/{}': a parameter needs a name: write {name}, or * for an unnamed one"},
           Row{"/{a",
               "route '/{a': '{a': a parameter must be a whole segment, as in /{name}/ (encode a brace as %7B or %7D)"},
           Row{"/{",
               "route '/{': '{': a parameter must be a whole segment, as in /{name}/ (encode a brace as %7B or %7D)"},
           Row{"/{a}.json",
               "route '/{a}.json': '{a}.json': a parameter must be a whole segment, as in /{name}/ (encode a brace as "
               "%7B or "
               "%7D)"},
           Row{"/{a}{b}",
               "route '/{a}{b}': '{a}{b}': a parameter must be a whole segment, as in /{name}/ (encode a brace as %7B "
               "or %7D)"},
           Row{"/{a}/b/{a}", "route '/{a}/b/{a}': duplicate parameter {a}: give each parameter its own name"},
           Row{"/{proxy+}",
               "route '/{proxy+}': {proxy+} matches one segment only: for the rest of the path, write ** last"},
           Row{"/{*rest}",
               "route '/{*rest}': {*rest} matches one segment only: for the rest of the path, write ** last"},
           Row{"/{id:[0-9]+}x",
               "route '/{id:[0-9]+}x': '{id:[0-9]+}x': a parameter must be a whole segment, as in /{name}/ "
               "(encode a brace as %7B or %7D)"},
           Row{"/{id:int}", "route '/{id:int}': {id:int}: patterns are not supported, write the name only"},
       }) {
    EXPECT_EQ(refusal(row.written), row.message);
  }
}

TEST(RouteTemplate, UnnamedParametersMayBeMany) {
  EXPECT_EQ(route("/*/*/x").segments.size(), 3U);
}

TEST(RouteTemplate, BoundsAreKept) {
  std::string longest;
  for (std::size_t i = 0; i < max_route_segments; ++i) longest += "/a";
  EXPECT_EQ(route(longest).segments.size(), max_route_segments);
  EXPECT_TRUE(route(longest + "/**").trailing_wildcard);
  EXPECT_NE(refusal(longest + "/a").find("too many segments: at most 32, then ** for the rest"), std::string::npos);
  EXPECT_NE(refusal("/" + std::string(max_route_length, 'a')).find("too long: at most 2048"), std::string::npos);
  EXPECT_NE(refusal(std::string(max_method_length + 1, 'A') + " /").find("the method is too long"), std::string::npos);
}

TEST(RouteTemplate, SameRouteWhateverTheNamesAndTheSpelling) {
  EXPECT_TRUE(same_route(route("GET /a/{x}"), route("get /A/{y}/")));
  EXPECT_TRUE(same_route(route("/a/{x}"), route("/%61/*")));
  EXPECT_FALSE(same_route(route("/a/{x}"), route("GET /a/{x}")));
  EXPECT_FALSE(same_route(route("/a/{x}"), route("/a/x")));
  EXPECT_FALSE(same_route(route("/a"), route("/a/**")));
  EXPECT_FALSE(same_route(route("/a"), route("/a/b")));
}

TEST(RouteTemplate, CoversWhatItMatches) {
  struct Row {
    std::string_view wide;
    std::string_view narrow;
    bool both_ways = false;
  };
  for (const Row& row : {
           Row{"/**", "/"},
           Row{"/**", "GET /a/{b}/**"},
           Row{"/api/**", "/api"},
           Row{"/api/**", "POST /api/v1/search"},
           Row{"/api/{x}/**", "/api/v1/**"},
           Row{"/{x}", "/a"},
           Row{"/{x}/b", "/a/b"},
           Row{"GET /a", "HEAD /a"},
           Row{"/a", "HEAD /a"},
           Row{"/a/{x}", "/A/{y}", true},
       }) {
    EXPECT_TRUE(covers(route(row.wide), route(row.narrow))) << row.wide << " " << row.narrow;
    EXPECT_EQ(covers(route(row.narrow), route(row.wide)), row.both_ways) << row.narrow << " " << row.wide;
  }
  for (const Row& row : {
           Row{"/a/{x}", "/{y}/b"},
           Row{"/a/{x}/**", "/a"},
           Row{"GET /a", "POST /a"},
           Row{"/a", "/b"},
           Row{"/a", "/a/b"},
       }) {
    EXPECT_FALSE(covers(route(row.wide), route(row.narrow))) << row.wide << " " << row.narrow;
    EXPECT_FALSE(covers(route(row.narrow), route(row.wide))) << row.narrow << " " << row.wide;
  }
}

}  // namespace
}  // namespace weir::policy
