#include <set>
#include <string>

#include "frontend/http_router.h"
#include "frontend/openapi.h"
#include "tests/frontend/documented_routes.h"
#include "tests/frontend_admin/admin_fixture.h"

namespace weir::frontend {
namespace {

TEST(AdminRoutes, AreThoseOfTheDocument) {
  std::set<std::string> routes;
  for (const Route& route : AdminFrontend::routes()) {
    routes.insert(std::string(route.method_name()) + " " + std::string(route.path));
  }
  EXPECT_EQ(routes, documented_routes(":8089"));
}

TEST(AdminRoutes, WhatStandsInThePlaceOfBracesIsTaken) {
  const std::string_view sent = "/v1/limits/a%2Fb/consumers/user=alice/reset";
  const std::vector<Route> routes = AdminFrontend::routes();
  const Route* const route = find_route(std::span<const Route>(routes), sent);
  ASSERT_NE(route, nullptr);
  EXPECT_EQ(route->path, "/v1/limits/{name}/consumers/{consumer}/reset");
  const auto target = read_target(sent);
  ASSERT_TRUE(target);
  EXPECT_EQ(names_in(*target, *route), (std::vector<std::string>{"a/b", "user=alice"}));
}

TEST_F(AdminFrontendTest, TheDocumentIsServedWithoutAToken) {
  open({.token = Token("reads")});
  const Reply reply = ask("GET /openapi.yaml");
  EXPECT_EQ(reply.status, 200U);
  EXPECT_TRUE(reply.says("Content-Type: application/yaml\r\n")) << reply.head;
  EXPECT_EQ(reply.body, openapi_text());
}

}  // namespace
}  // namespace weir::frontend
