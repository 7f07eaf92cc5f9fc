// Responses do not depend on how the input is split or when the store answers: they equal those of a local store.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "frontend/http/http_frontend.h"
#include "tests/frontend/shared_context.h"

namespace weir::frontend {
namespace {

constexpr std::string_view policy = R"(
version: 1
limits:
  - { name: by-user, consumer_key: user, algorithm: token_bucket, rate: 6/min, burst: 3 }
)";

std::string post(std::string_view path, const std::string& body) {
  return "POST " + std::string(path) +
         " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string auth(const std::string& user) {
  return "GET /v1/auth/x HTTP/1.1\r\nHost: localhost\r\nX-User-Id: " + user + "\r\nAccept: a\r\n\r\n";
}

rc::Gen<std::string> any_request() {
  const auto user = rc::gen::element<std::string>("alice", "bob", "a user whose name is in no small string");
  const auto check = rc::gen::map(user, [](const std::string& name) { return R"({"user":")" + name + "\"}"; });
  return rc::gen::oneOf(
      rc::gen::map(user, auth), rc::gen::map(check, [](const std::string& body) { return post("/v1/check", body); }),
      rc::gen::map(rc::gen::pair(check, check),
                   [](const auto& two) { return post("/v1/check", '[' + two.first + ',' + two.second + ']'); }),
      rc::gen::element(post("/v1/check", "{"), post("/json", "{}"),
                       std::string("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"),
                       std::string("HEAD /v1/auth/x HTTP/1.1\r\nHost: localhost\r\nX-User-Id: bob\r\n\r\n"),
                       std::string("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")));
}

struct Server : SharedContext {
  explicit Server(Store kept)
      : SharedContext(policy, kept), frontend(context, health, {}), talk(frontend.open({}, {})) {}

  HttpFrontend frontend;
  Conversation talk;
};

std::string said_to_the_store(const std::string& bytes) {
  Server server(SharedContext::Store::shared);
  std::string received;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto size = *rc::gen::inRange<std::size_t>(1, 400);
    received += server.talk.send(std::string_view(bytes).substr(at, size));
    at += size;
    if (!server.talk.paused() || *rc::gen::arbitrary<bool>()) continue;
    if (server.store.waiting() > 0) server.store.deliver();
    received += server.talk.resume();
  }
  while (server.talk.paused()) {
    server.store.deliver_all();
    received += server.talk.resume();
  }
  return received;
}

RC_GTEST_PROP(SharedHttp, AnswersAreThoseOfAStoreOfOnesOwn, ()) {
  std::string bytes;
  for (const std::string& each : *rc::gen::container<std::vector<std::string>>(any_request())) bytes += each;
  RC_ASSERT(said_to_the_store(bytes) == Server(SharedContext::Store::own).talk.send(bytes));
}

}  // namespace
}  // namespace weir::frontend
