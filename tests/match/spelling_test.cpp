// Tests that no spelling of a path bypasses the limit on it.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/match/routes.h"

namespace weir::match {
namespace {

using Limits = std::set<std::uint32_t>;
using namespace std::string_view_literals;

constexpr auto spellings_of_login = {
    "/login"sv,
    "/login/"sv,
    "/login//"sv,
    "/login/."sv,
    "/login/./"sv,
    "/login/.//"sv,
    "//login"sv,
    "///login"sv,
    "/./login"sv,
    "/.//./login"sv,
    "/../login"sv,
    "/../../../login"sv,
    "/x/../login"sv,
    "/x/y/../../login"sv,
    "/x//../login"sv,  // nginx, which merges first
    "/x/../y/../login"sv,
    "/login/x/.."sv,
    "/login/../login"sv,
    "/x/..%2flogin"sv,
    "/x/%2e%2e/login"sv,
    "/x/%2E./login"sv,
    "/x/%252e%252e/login"sv,
    "/x%2f..%2flogin"sv,
    "/x%252f..%252flogin"sv,
    "/x/..;/login"sv,  // Tomcat behind a proxy that does not support parameters
    "/x/..;a=b/login"sv,
    "/x\\..\\login"sv,
    "/x%5c..%5clogin"sv,
    "/%6cogin"sv,
    "/%6Cogin"sv,
    "/%6c%6f%67%69%6e"sv,
    "/%256cogin"sv,
    "/%25256cogin"sv,
    "/%25%36cogin"sv,
    "/%%36%63ogin"sv,
    "/%u006cogin"sv,
    "/%U006Cogin"sv,
    "/%25u006cogin"sv,
    "/%c1%acogin"sv,
    "/login%2F"sv,
    "/login%2f%2f"sv,
    "/login%252F"sv,
    "/login%5C"sv,
    "/%2Flogin"sv,
    "/%2F%2Flogin"sv,
    "/%5Clogin"sv,
    "/%c0%aflogin"sv,
    "\\login"sv,
    "/\\login"sv,
    "\\\\login"sv,
    "/login\\"sv,
    "/login\\."sv,
    "/login%00"sv,
    "/login%00.html"sv,
    "/login%00/x"sv,
    "/login%2500"sv,
    "/login\0"sv,
    "/login%0a"sv,
    "/login%0d%0a"sv,
    "/login%0aX"sv,  // a `$` that matches at the end of a line
    "/%0alogin"sv,
    "/login%09"sv,
    "/log\tin"sv,  // removed by the URL parser of browsers and Node
    "/login%20"sv,
    "/%20login"sv,
    "/login."sv,  // Windows
    "/login..."sv,
    "/login%20."sv,
    "/login%2e"sv,
    "/login?"sv,
    "/login?x"sv,
    "/login?x=/../y"sv,
    "/login/?x"sv,
    "/login%3f"sv,
    "/login%3Fx/y"sv,
    "/login%253Fx"sv,
    "/login#"sv,
    "/login#x"sv,
    "/login#/../x"sv,
    "/login%23x"sv,
    "/LOGIN"sv,
    "/Login"sv,
    "/%4cOGIN"sv,
    "/login;params"sv,
    "/login;a=b;c=d"sv,
    "/login;"sv,
    "/login;/"sv,
    "/login;x/y/.."sv,
    "/login;a%2Fb"sv,
    "/login;a%2F..%2Fb"sv,
    "/login;a\\b"sv,
    "/login%3bx"sv,
    "/login%253Bx"sv,
    "/;x/login"sv,
    "/;x/;y/login;z"sv,
    "/%3bx/login"sv,
    "/;/%2e/login"sv,
    "//host/login"sv,  // new URL(target, base)
    "///host/login"sv,
    "/\\host/login"sv,
    "\\\\host\\login"sv,
    "http://host/login"sv,
    "HTTP://host/login"sv,
    "https://user:pass@host:443/login?x"sv,
    "http://host//login"sv,
    "http://host/x/../login"sv,
    "http://[::1]/login"sv,
    "http:\\\\host\\login"sv,
    "http:///host/login"sv,
    "http:/host/login"sv,
    "ws://host/login"sv,
    "login"sv,
    "./login"sv,
    "x/../login"sv,
};

TEST(Spelling, NoneOfLoginEscapes) {
  Routes routes{{"POST /login"}, {"/login"}, {"/{x}/users"}};
  for (const std::string_view target : spellings_of_login) {
    const Limits covering = routes.limits("POST", target);
    EXPECT_TRUE(covering.contains(0) && covering.contains(1)) << target;
  }
}

TEST(Spelling, NoneOfLoginEscapesAmongParametersAndWildcards) {
  Routes routes{{"POST /login"}, {"/login/**"}, {"/{x}/**"}, {"/{x}/{y}"}, {"/x/{y}/z"}, {"/**"}};
  for (const std::string_view target : spellings_of_login) {
    for (const std::string_view method : {"POST", "post", "Post", ""}) {
      const Limits covering = routes.limits(method, target);
      EXPECT_TRUE(covering.contains(0) && covering.contains(1) && covering.contains(5)) << method << " " << target;
    }
  }
}

TEST(Spelling, NoneOfALongerPathEscapes) {
  Routes routes{{"/api/v1/users/{id}/posts"}};
  for (const std::string_view target : {
           "/api/v1/users/7/posts"sv,
           "/api/v1/users/a%2Fb/posts"sv,      // one segment to Go and Express
           "/%61pi/v1/users/a%2Fb/posts"sv,    // Go: split, then decoded
           "/api%2Fv1/users/x%252Fy/posts"sv,  // decoded once, then split
           "/api/v1/users/;x/posts"sv,         // a name to every server except Java's
           "/;q/api/v1/users/%3Bx/%70osts"sv,  // Tomcat strips parameters before it decodes
           "/x/../api/v1/users/%252e%252e/posts"sv,
           "/api/v1/users/../posts"sv,  // Flask resolves nothing
           "/api/v1/users/./posts"sv,
           "/api/v1/users//posts"sv,  // chi accepts an empty name
           "/api/v1/users/%00/posts"sv,
           "/api/v1/users/%20/posts"sv,
           "/api/v1/users/a\\b\\c/posts"sv,
           "/api/v1/users/a\\..\\b/posts"sv,
           "/api/v1/users/a%2F..%2Fb%2F..%2F/posts"sv,
           "/api/v1;x%2Fy/users/z/posts"sv,
           "/api/v1/users/7/posts/x/.."sv,
           "/api/v1/users/7/x/%2e%2e/posts"sv,
           "/api/v1/users/7/posts%3F/y"sv,
       }) {
    EXPECT_EQ(routes.limits("GET", target), Limits{0}) << target;
  }
}

TEST(Spelling, OtherPathsAreNotTaken) {
  Routes routes{{"/login"}, {"/api/{x}"}, {"/"}};
  for (const std::string_view target : {
           "/logi"sv,
           "/login2"sv,
           "/login.json"sv,
           "/login/x"sv,
           "/xlogin"sv,
           "/x/login"sv,
           "/log%2525in"sv,
           "/lo%67%zzin"sv,
           "/api"sv,
           "/api/x/y"sv,
           "/x%2Flogin"sv,
           "/login%2Fx"sv,
           "/login/../x"sv,
           "/a//login"sv,
           "/x?/login"sv,
           "http://login/x"sv,
       }) {
    EXPECT_EQ(routes.limits("GET", target), Limits{}) << target;
  }
}

TEST(Spelling, DepthAndLengthAreNoWayOut) {
  Routes routes{{"/login"}, {"/api/**"}};
  std::string down;
  std::string up;
  for (int i = 0; i < 30; ++i) {
    down += "/x";
    up += "/..";
  }
  EXPECT_TRUE(routes.limits("GET", down + up + "/login").contains(0));
  EXPECT_TRUE(routes.limits("GET", down + down + up + up + "/login").contains(0));
  EXPECT_TRUE(routes.limits("GET", "/" + std::string(PathReader::max_length, 'x') + "/../login").contains(0));
  EXPECT_TRUE(routes.limits("GET", std::string(5000, '/') + "login").contains(0));
  EXPECT_TRUE(routes.limits("GET", "/api" + down + down + down).contains(1));
  EXPECT_TRUE(routes.limits("GET", "/api/" + std::string(PathReader::max_length, 'x')).contains(1));
}

}  // namespace
}  // namespace weir::match
