// The files of the page and their headers.
#include "frontend/admin/page_files.h"
#include "tests/frontend_admin/admin_fixture.h"

namespace weir::frontend {
namespace {

TEST_F(AdminFrontendTest, PageIsTheIndex) {
  const Reply reply = ask("GET /");
  EXPECT_EQ(reply.status, 200U);
  EXPECT_EQ(reply.body, find_page_file("index.html")->bytes);
  EXPECT_EQ(ask("GET /page/index.html").body, reply.body);
  EXPECT_TRUE(reply.says("Content-Type: text/html; charset=utf-8\r\n"));
}

TEST_F(AdminFrontendTest, EveryFileForbidsWhatIsNotFromHere) {
  ASSERT_FALSE(page_files().empty());
  for (const PageFile& file : page_files()) {
    const Reply reply = ask("GET /page/" + std::string(file.name));
    EXPECT_EQ(reply.body, file.bytes) << file.name;
    for (const auto* field :
         {"Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
          "img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'\r\n",
          "X-Content-Type-Options: nosniff\r\n", "Referrer-Policy: no-referrer\r\n", "Cache-Control: no-cache\r\n"}) {
      EXPECT_TRUE(reply.says(field)) << file.name << ": " << field;
    }
    EXPECT_TRUE(reply.says("ETag: " + std::string(file.etag) + "\r\n")) << reply.head;
  }
}

TEST_F(AdminFrontendTest, FileThatTheBrowserHasIsNotSentAgain) {
  const std::string etag(find_page_file("index.html")->etag);
  struct Row {
    std::string field;
    unsigned status;
  };
  for (const Row& row : std::vector<Row>{{etag, 304},
                                         {"W/" + etag, 304},
                                         {"\"other\", " + etag, 304},
                                         {"*", 304},
                                         {"\"other\"", 200},
                                         {etag.substr(1, etag.size() - 2), 200}}) {
    std::string bytes = send(request("GET /", "If-None-Match: " + row.field + "\r\n"));
    const auto body = row.status == 304 ? wire::http1::Body::withheld : wire::http1::Body::sent;
    const Reply reply = take_reply(bytes, body);
    EXPECT_EQ(reply.status, row.status) << row.field;
    EXPECT_EQ(bytes, "");
    EXPECT_TRUE(reply.says("ETag: " + etag + "\r\n"));
  }
}

TEST_F(AdminFrontendTest, PageAsksForNoTokenAndItsDataDoes) {
  open({.token = Token("reads")});
  EXPECT_EQ(ask("GET /").status, 200U);
  for (const auto* path : {"/v1/stream", "/v1/history", "/v1/limits", "/v1/limits/api", "/v1/policy", "/v1/cluster",
                           "/v1/events", "/v1/ruleset", "/v1/status"}) {
    EXPECT_EQ(ask("GET " + std::string(path)).status, 401U) << path;
  }
  for (const auto* path : {"/v1/explain", "/v1/consumer"}) EXPECT_EQ(post(path, "{}").status, 401U) << path;
}

TEST_F(AdminFrontendTest, PageAnswersToItsHostOnly) {
  std::string bytes = send(request("GET /", {}, "evil.example"));
  EXPECT_EQ(take_reply(bytes).status, 421U);
}

}  // namespace
}  // namespace weir::frontend
