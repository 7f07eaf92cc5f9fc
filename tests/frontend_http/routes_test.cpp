#include "frontend/http_router.h"

#include <gtest/gtest.h>

#include "tests/frontend/documented_routes.h"
#include "tests/frontend_http/http_fixture.h"

namespace weir::frontend {
namespace {

std::vector<std::string> methods_of(const Route& route) {
  switch (route.methods) {
    case Route::Methods::get:
      return {"GET"};
    case Route::Methods::post:
    case Route::Methods::put:
    case Route::Methods::remove:
      return {std::string(route.method_name())};
    case Route::Methods::any:
      break;
  }
  return {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"};
}

TEST(HttpRoutes, AreThoseOfTheDocument) {
  std::set<std::string> routes;
  for (const Route& route : HttpFrontend::routes()) {
    for (const std::string& method : methods_of(route)) routes.insert(method + " " + std::string(route.path));
  }
  EXPECT_EQ(routes, documented_routes(":8080"));
}

TEST(HttpRoutes, AreFoundByTheirPath) {
  const std::vector<Route> routes = HttpFrontend::routes();
  const auto find = [&](std::string_view target) { return find_route(std::span<const Route>(routes), target); };
  for (const Route& route : routes) {
    std::string path(route.path);
    if (const std::size_t brace = path.find('{'); brace != std::string::npos) path.replace(brace, path.npos, "a/b");
    EXPECT_EQ(find(path), &route) << path;
    EXPECT_EQ(find(path + "?x=1"), &route) << path;
  }
  for (const auto* path :
       {"", "/", "/v1", "/v1/authx", "/v1/auth%2F", "/v1/checks", "/v1/check/", "/healthz/", "/json/"}) {
    EXPECT_EQ(find(path), nullptr) << path;
  }
}

TEST(HttpRoutes, OtherMethodsAreNotAllowed) {
  HttpFixture http(two_per_minute);
  for (const Route& route : HttpFrontend::routes()) {
    if (route.methods == Route::Methods::any) continue;
    const bool by_post = route.methods == Route::Methods::post;
    for (const auto* method : {"PUT", by_post ? "GET" : "POST"}) {
      const Answer answer = http.auth("", route.path, method);
      EXPECT_EQ(answer.status, 405) << method << ' ' << route.path;
      EXPECT_EQ(answer.field("Allow"), by_post ? "POST" : "GET, HEAD") << method << ' ' << route.path;
    }
    if (by_post) continue;
    EXPECT_EQ(http.auth("", route.path).status, 200) << route.path;
    EXPECT_EQ(http.auth("", route.path, "HEAD").status, 200) << route.path;
  }
}

TEST(HttpRoutes, TheDocumentIsServedWithoutAToken) {
  HttpOptions options;
  options.token = Token("secret");
  HttpFixture http(two_per_minute, options);
  const Answer answer = http.auth("", "/openapi.yaml");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.field("Content-Type"), "application/yaml");
  EXPECT_EQ(answer.body, openapi_text());
  EXPECT_EQ(http.auth("", "/v1/auth").status, 401);
}

}  // namespace
}  // namespace weir::frontend
