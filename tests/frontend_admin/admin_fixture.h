// Verbs for tests of the admin frontend. No sockets: the fixture calls a session like a connection.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "frontend/admin/admin_frontend.h"
#include "match/consumer.h"
#include "match/descriptors.h"
#include "tests/match/request.h"
#include "tests/set_clock.h"

namespace weir::frontend {

using namespace std::chrono_literals;

inline constexpr Instant noon{std::chrono::sys_days{std::chrono::year{2026} / 1 / 5} + 12h};

struct FakeBackend : AdminBackend {
  std::string metrics() override { return "# TYPE weir_up gauge\nweir_up 1\n"; }
  AdminStatus status() override { return status_now; }
  std::vector<observe::DeniedConsumer> top_denied(std::size_t most) override {
    auto first = denied;
    first.resize(std::min(most, first.size()));
    asked_for = most;
    return first;
  }
  void reload(Reloaded done) override { reloads.push_back(std::move(done)); }
  void policy(PolicyRead done) override { policies.push_back(std::move(done)); }
  Feed& feed() override { return feed_now; }
  HistoryReport history(std::string_view limit) override {
    HistoryReport report = history_now;
    if (limit.empty()) report.limit.reset();
    return report;
  }
  std::vector<observe::Notice> notices(std::size_t most) override { return notices_now.newest(most); }
  void limits(const LimitsQuery& asked, LimitsRead done) override {
    limits_asked = {asked.only, asked.top_denied, asked.recent};
    limits_read.push_back(std::move(done));
  }
  void overrides(const overrides::ServiceRequest& request, OverridesAnswered done) override {
    overrides_asked.push_back(request);
    done(overrides_answer);
  }
  std::string exception_id(match::ExceptionNumber number) override { return "id-" + std::to_string(number); }
  std::optional<StoreReport> store_report() override { return store_now; }
  std::string consumer_name(std::string_view key) override { return "named:" + match::describe_consumer(key); }
  std::string consumer_name(std::span<const DescriptorEntry> entries) override {
    return "named:" + match::describe_descriptor(entries);
  }
  void changed(const observe::MadeChange& change) override { changes.push_back(change); }

  AdminStatus status_now;
  std::vector<observe::DeniedConsumer> denied;
  std::size_t asked_for = 0;
  std::vector<Reloaded> reloads;     // pending
  std::vector<PolicyRead> policies;  // pending
  Feed feed_now;
  HistoryReport history_now;
  observe::Notices notices_now;
  std::vector<LimitsRead> limits_read;  // pending
  std::tuple<std::string, std::size_t, std::size_t> limits_asked;
  std::optional<StoreReport> store_now;
  std::vector<observe::MadeChange> changes;
  std::vector<overrides::ServiceRequest> overrides_asked;
  overrides::Answer overrides_answer;
};

struct Reply {
  unsigned status = 0;
  std::string head;  // includes the status line
  std::string body;

  [[nodiscard]] bool says(std::string_view line) const { return head.find(line) != std::string::npos; }
};

// Removes the first response from `bytes`. With `Body::withheld` it has no body.
inline Reply take_reply(std::string& bytes, wire::http1::Body body = wire::http1::Body::sent) {
  Reply reply;
  const std::size_t end = bytes.find("\r\n\r\n");
  if (end == std::string::npos) {
    ADD_FAILURE() << "no response in: " << bytes;
    return reply;
  }
  reply.head = bytes.substr(0, end + 2);
  reply.status = static_cast<unsigned>(std::stoul(reply.head.substr(9, 3)));
  const std::size_t length = reply.head.find("Content-Length: ");
  const std::size_t size = body == wire::http1::Body::withheld
                               ? 0
                               : std::stoul(reply.head.substr(length + std::string("Content-Length: ").size()));
  reply.body = bytes.substr(end + 4, size);
  bytes.erase(0, end + 4 + size);
  return reply;
}

class AdminFrontendTest : public testing::Test {
 protected:
  static constexpr auto policy = R"(version: 1
tiers: { from: { header: X-Plan }, default: free }
limits:
  - name: api
    routes: [GET /api/**, POST /api/search]
    consumer_key: [user, api_key]
    algorithm: token_bucket
    rate: 60/min
    burst: 4
    tier_overrides: { pro: { rate: 600/min, burst: 40 }, staff: unlimited }
  - name: login
    routes: [POST /login]
    when: anonymous
    consumer_key: ip
    algorithm: fixed_window
    rate: 2/h
    mode: shadow
    candidate: { rate: 1/h }
  - name: sms
    routes: [POST /sms]
    consumer_key: global
    algorithm: gcra
    rate: 1/s
    warn_first: { count: 2, per: 1h }
    penalty: { after: 10, within: 1min, block: 10min }
)";

  AdminFrontendTest() {
    auto made =
        engine::Engine::create(match::ruleset_of(policy), {.memory_budget = std::size_t{64} << 20, .hash_key = {1, 2}});
    EXPECT_TRUE(made) << made.error().message();
    engine_ = std::move(*made);
    context_.emplace(*engine_, clock_, Settings{});
    open({});
  }

  // Opens a new session at a frontend with these options.
  void open(AdminOptions options) {
    session_.reset();
    frontend_.emplace(*context_, backend_, health_, std::move(options));
    session_ = frontend_->open({}, {});
  }

  // Returns all responses to these bytes.
  std::string send(std::string bytes) {
    net::Output out;
    const std::size_t done = session_->on_input(bytes, out);
    EXPECT_EQ(done, bytes.size());
    return out.bytes();
  }

  static std::string request(std::string_view line, std::string_view headers = {},
                             std::string_view host = "localhost") {
    return std::string(line) + " HTTP/1.1\r\nHost: " + std::string(host) + "\r\n" + std::string(headers) + "\r\n";
  }

  Reply post(std::string_view path, std::string_view body, std::string_view headers = {}) {
    const std::string length = "Content-Length: " + std::to_string(body.size()) + "\r\n";
    std::string bytes = send(request("POST " + std::string(path), length + std::string(headers)) + std::string(body));
    Reply reply = take_reply(bytes);
    EXPECT_EQ(bytes, "");
    return reply;
  }

  Reply ask(std::string_view line, std::string_view headers = {}) {
    std::string bytes = send(request(line, headers));
    const bool is_head = line.starts_with("HEAD ");
    Reply reply = take_reply(bytes, is_head ? wire::http1::Body::withheld : wire::http1::Body::sent);
    EXPECT_EQ(bytes, "");
    return reply;
  }

  // A request by alice that the limit `api` covers.
  void use(int times) {
    for (int i = 0; i < times; ++i) {
      const engine::Query query{.method = "GET", .path = "/api/x", .ip = "203.0.113.1", .user = "alice"};
      (void)context_->evaluator().evaluate(query, clock_.now());
    }
  }

  SetClock clock_{noon};
  Health health_;
  FakeBackend backend_;
  std::unique_ptr<engine::Engine> engine_;
  std::optional<LoopContext> context_;
  std::optional<AdminFrontend> frontend_;
  std::unique_ptr<net::Session> session_;
};

}  // namespace weir::frontend
