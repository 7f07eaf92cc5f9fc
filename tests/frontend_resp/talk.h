// Verbs for tests of the Redis protocol frontend, on virtual time and without sockets.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/resp/resp_frontend.h"
#include "match/consumer.h"
#include "policy/load.h"
#include "weir/clock.h"
#include "wire/resp/writer.h"

namespace weir::frontend {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): tests read better with 10s

inline constexpr std::string_view policy_of_tests = R"(version: 1
tiers: {from: {header: X-Plan}, default: free}
limits:
  - name: api
    routes: [/api/**]
    consumer_key: user
    algorithm: gcra
    rate: 1/s
    burst: 3
    tier_overrides:
      pro: {rate: 10/s, burst: 30}
      staff: unlimited
  - name: mail
    routes: [POST /mail]
    consumer_key: user
    algorithm: leaky_bucket
    rate: 1/s
    queue: 2
)";

inline std::unique_ptr<engine::Engine> engine_of_tests() {
  const policy::Loaded loaded = policy::load_text(policy_of_tests, "policy.yaml");
  for (const text::Problem& problem : loaded.problems) {
    if (problem.severity == text::Severity::error) ADD_FAILURE() << problem.text();
  }
  auto made = engine::Engine::create(loaded.ruleset, {.memory_budget = std::size_t{16} << 20, .hash_key = {1, 2}});
  EXPECT_TRUE(made) << made.error().message();
  return std::move(*made);
}

inline std::unique_ptr<store::ThrottleTable> throttles_of_tests() {
  auto made = store::ThrottleTable::create(std::size_t{16} << 20, {3, 4});
  EXPECT_TRUE(made);
  return std::move(*made);
}

// `done: api user=alice`
inline std::string text_of(const MadeReset& reset) {
  constexpr std::array<std::string_view, 3> outcomes{"done", "failed", "unanswered"};
  std::string text(outcomes.at(static_cast<std::size_t>(reset.outcome)));
  text += ": " + std::string(reset.limit);
  if (!reset.consumer.empty()) text += " " + match::describe_consumer(reset.consumer);
  return text;
}

// A server with one loop and a manual clock.
struct RespServer {
  static constexpr std::array<ReceiptKey, 1> receipt_keys{{{1, 2, 3}}};

  explicit RespServer(RespOptions options = {}, std::size_t transaction_bytes = TransactionBudget::default_bytes)
      : transaction_budget(std::make_shared<TransactionBudget>(transaction_bytes)),
        frontend(
            context, std::move(options), [this](const MadeReset& reset) { resets.push_back(text_of(reset)); },
            transaction_budget) {}

  std::vector<std::string> resets;  // reported
  ManualClock clock{Instant(std::chrono::sys_days{std::chrono::year{2026} / 1 / 5} + 12h)};
  std::unique_ptr<engine::Engine> engine = engine_of_tests();
  std::unique_ptr<store::ThrottleTable> throttles = throttles_of_tests();
  LoopContext context{*engine, clock, {}, {.throttle = throttles.get()}, receipt_keys};
  std::shared_ptr<TransactionBudget> transaction_budget;
  RespFrontend frontend;
};

inline RespOptions asking_for_tokens() {
  return {.limits = {}, .token = Token("secret"), .admin_token = Token("key of the admin")};
}

// A connection to the server.
class Talk {
 public:
  explicit Talk(RespServer& server, std::string address = "203.0.113.7")
      : session_(server.frontend.open(peer(std::move(address)), {})) {}

  // Returns the replies to the bytes, which arrive at once.
  std::string send(std::string_view bytes) {
    arrived_ += bytes;
    net::Output out;
    offer(out);
    return std::move(out.bytes());
  }

  // Sends the bytes one by one.
  std::string spell(std::string_view bytes) {
    std::string received;
    for (const char byte : bytes) received += send({&byte, 1});
    return received;
  }

  // Sends one command as an array of bulk strings.
  std::string ask(const std::vector<std::string>& words) {
    std::string bytes;
    wire::resp::append_command(bytes, std::vector<std::string_view>(words.begin(), words.end()));
    return send(bytes);
  }

  // Offers a buffer of the caller without allocating. Returns the consumed bytes.
  std::size_t offer(std::string& bytes, net::Output& out) { return session_->on_input(bytes, out); }

  [[nodiscard]] bool closed() const { return closed_; }

 private:
  static net::Peer peer(std::string address) {
    net::Peer peer;
    peer.address = std::move(address);
    peer.port = 4711;
    return peer;
  }

  void offer(net::Output& out) {
    if (closed_) return;
    std::vector<char> elsewhere(arrived_.begin(), arrived_.end());  // exact size, so that a sanitizer detects overruns
    const std::size_t consumed = session_->on_input(elsewhere, out);
    arrived_.assign(elsewhere.begin() + static_cast<std::ptrdiff_t>(consumed), elsewhere.end());
    closed_ = out.closing();
  }

  std::unique_ptr<net::Session> session_;
  std::string arrived_;
  bool closed_ = false;
};

}  // namespace weir::frontend
