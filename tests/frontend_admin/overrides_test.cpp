#include "tests/frontend_admin/admin_fixture.h"

namespace weir::frontend {
namespace {

using overrides::Kind;
using Action = overrides::ServiceRequest::Action;

class AdminOverrides : public AdminFrontendTest {
 protected:
  static constexpr auto alice = "X-Weir-Token: alices-token\r\n";
  static constexpr auto bob = "Authorization: Bearer bobs-token\r\n";

  AdminOverrides() {
    open(
        {.admin_token = Token("alices-token"),
         .named = {{"alice", "alices-token", NamedToken::Role::write}, {"bob", "bobs-token", NamedToken::Role::read}}});
  }

  // What the backend was asked by a request that is allowed.
  overrides::ServiceRequest asked(std::string_view line, std::string_view headers, std::string_view body = {}) {
    const std::string length = "Content-Length: " + std::to_string(body.size()) + "\r\n";
    (void)send(request(line, length + std::string(headers)) + std::string(body));
    EXPECT_EQ(backend_.overrides_asked.size(), 1U) << line;
    if (backend_.overrides_asked.empty()) return {};
    const overrides::ServiceRequest last = backend_.overrides_asked.back();
    backend_.overrides_asked.clear();
    open_again();
    return last;
  }
  void open_again() { session_ = frontend_->open({}, {}); }
};

TEST_F(AdminOverrides, AChangeHasTheNameOfItsTokenAndItsCondition) {
  const auto put = asked("PUT /v1/overrides", std::string(alice) + "If-Match: \"7\"\r\n", "{}");
  EXPECT_EQ(put.action, Action::put);
  EXPECT_EQ(put.kind, Kind::limit_override);
  EXPECT_EQ(put.by, "alice");
  EXPECT_EQ(put.body, "{}");
  EXPECT_EQ(put.if_match, "\"7\"");
  const auto removed = asked("DELETE /v1/blocks/a%20b", alice);
  EXPECT_EQ(removed.action, Action::remove);
  EXPECT_EQ(removed.kind, Kind::block);
  EXPECT_EQ(removed.id, "a b");
}

TEST_F(AdminOverrides, AListHasFiltersAndPages) {
  const auto list = asked("GET /v1/overrides?limit=api&consumer=user%3Dx&cursor=c&count=7", bob);
  EXPECT_EQ(list.action, Action::list);
  EXPECT_EQ(list.limit + "," + list.target + "," + list.cursor, "api,user=x,c");
  EXPECT_EQ(list.max, 7U);
  EXPECT_EQ(asked("GET /v1/blocks?identity=user%3Dx", bob).target, "user=x");
  EXPECT_EQ(asked("GET /v1/blocks/history", bob).action, Action::history);
  EXPECT_EQ(asked("GET /v1/blocks/one", bob).action, Action::show);
  EXPECT_EQ(ask("GET /v1/blocks?limit=api", bob).status, 400U);
  EXPECT_EQ(ask("GET /v1/overrides?count=1001", bob).status, 400U);
}

TEST_F(AdminOverrides, ReadingNeedsATokenAndChangingOneThatMayWrite) {
  EXPECT_EQ(ask("GET /v1/overrides").status, 401U);
  EXPECT_EQ(ask("GET /v1/blocks/one", "X-Weir-Token: wrong\r\n").status, 401U);
  EXPECT_EQ(ask("PUT /v1/overrides", bob).status, 403U);
  EXPECT_EQ(ask("DELETE /v1/overrides/one").status, 401U);
  EXPECT_EQ(ask("POST /v1/overrides", alice).status, 405U);
  EXPECT_TRUE(ask("POST /v1/overrides", alice).says("Allow: GET, HEAD, PUT\r\n"));
  EXPECT_TRUE(ask("PUT /v1/blocks/one", alice).says("Allow: GET, HEAD, DELETE\r\n"));
  EXPECT_TRUE(backend_.overrides_asked.empty());
}

}  // namespace
}  // namespace weir::frontend
