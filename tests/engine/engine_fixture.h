// Verbs for tests of the engine: load a policy, send requests on virtual time, look at what came back.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "engine/judge.h"
#include "policy/load.h"
#include "tests/set_clock.h"

namespace weir::engine {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): tests read better with 10s

inline std::shared_ptr<const policy::Ruleset> ruleset_of(std::string_view text) {
  const policy::Loaded loaded = policy::load_text(text, "policy.yaml");
  for (const policy::Problem& problem : loaded.problems) {
    if (problem.severity == policy::Severity::error) ADD_FAILURE() << problem.text();
  }
  return loaded.ruleset;
}

// A request, told in the order that one would: who asks for what, with which headers.
struct Request {
  std::string method = "GET";
  std::string target = "/";
  std::string ip = "203.0.113.1";
  std::string user;
  std::string tier;
  std::optional<Cost> cost;
  bool peek = false;
  Duration max_wait = Duration::max();
  std::vector<std::pair<std::string, std::string>> headers;

  static Request to(std::string_view line) {
    Request request;
    const std::size_t space = line.find(' ');
    request.method = line.substr(0, space);
    request.target = line.substr(space + 1);
    return request;
  }
  Request& from(std::string address) { return ip = std::move(address), *this; }
  Request& by(std::string name) { return user = std::move(name), *this; }
  Request& in_tier(std::string name) { return tier = std::move(name), *this; }
  Request& costing(std::uint64_t units) { return cost = Cost{units}, *this; }
  Request& with(std::string name, std::string value) {
    headers.emplace_back(std::move(name), std::move(value));
    return *this;
  }
  Request& only_looking() { return peek = true, *this; }
};

// A request as a query, whose views point into it.
class Asked {
 public:
  explicit Asked(Request request) : request_(std::move(request)) {
    for (const auto& [name, value] : request_.headers) headers_.push_back({name, value});
    query_ = Query{.method = request_.method,
                   .target = request_.target,
                   .ip = request_.ip,
                   .headers = headers_,
                   .user = request_.user,
                   .api_key = {},
                   .tier = request_.tier,
                   .cost = request_.cost,
                   .max_wait = request_.max_wait,
                   .peek = request_.peek};
  }
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;

  [[nodiscard]] const Query& query() const noexcept { return query_; }

 private:
  Request request_;
  std::vector<Header> headers_;
  Query query_;
};

class EngineTest : public testing::Test {
 protected:
  void load(std::string_view text) {
    const auto ruleset = ruleset_of(text);
    ASSERT_TRUE(ruleset);
    auto made = Engine::create(ruleset, {.memory_budget = std::size_t{64} << 20, .hash_key = {1, 2}});
    ASSERT_TRUE(made) << made.error().message();
    judge_.reset();
    engine_ = std::move(*made);
    judge_ = engine_->new_judge();
  }

  void reload(std::string_view text) {
    const auto ruleset = ruleset_of(text);
    ASSERT_TRUE(ruleset);
    const auto done = engine_->reload(ruleset, SetClock(now_));
    ASSERT_TRUE(done) << done.error().message();
  }

  void advance(Duration time) { now_ += time; }

  Verdict send(const Request& request) { return judge_->judge(Asked(request).query(), now_); }
  bool passes(const Request& request) { return send(request).admitted; }

  // How many of `count` equal requests pass now.
  int passing(const Request& request, int count) {
    int passed = 0;
    for (int i = 0; i < count; ++i) passed += passes(request) ? 1 : 0;
    return passed;
  }

  std::string limit_of(const Verdict& verdict) const {
    return verdict.limit == Verdict::no_limit ? "none" : judge_->plan().ruleset().limits[verdict.limit].name;
  }

  std::uint64_t total(Event event) const {
    std::uint64_t sum = 0;
    for (const auto& [name, events] : engine_->totals().by_limit_and_route)
      sum += events[static_cast<std::size_t>(event)];
    return sum;
  }

  Instant now_{std::chrono::sys_days{std::chrono::year{2026} / 1 / 5} + 12h};
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Judge> judge_;
};

}  // namespace weir::engine
