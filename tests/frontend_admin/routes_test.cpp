#include <set>
#include <string>

#include "frontend/admin/endpoint.h"
#include "frontend/openapi.h"
#include "tests/frontend/documented_routes.h"
#include "tests/frontend_admin/admin_fixture.h"

namespace weir::frontend {
namespace {

TEST(AdminRoutes, AreThoseOfTheDocument) {
  std::set<std::string> routes;
  for (const AdminRoute& route : admin_routes()) {
    routes.insert((is_by_post(route.subject) ? "POST " : "GET ") + std::string(route.path));
  }
  EXPECT_EQ(routes, documented_routes(":8089"));
}

TEST(AdminRoutes, WhatStandsInThePlaceOfBracesIsTaken) {
  const auto target = read_target("/v1/limits/a%2Fb/consumers/user=alice/reset");
  ASSERT_TRUE(target);
  const auto endpoint = endpoint_of(*target);
  ASSERT_TRUE(endpoint);
  EXPECT_EQ(endpoint->subject, Subject::reset);
  EXPECT_EQ(endpoint->name, "a/b");
  EXPECT_EQ(endpoint->consumer, "user=alice");
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
