// A fixture for tests of overrides: an engine on virtual time, a service with a log, and the verbs of an operator.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "overrides/service.h"
#include "tests/engine/engine_fixture.h"
#include "tests/temporary_folder.h"

namespace weir::overrides {

using engine::Reason;
using engine::Verdict;
using match::Request;
using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): tests read better with 10s

class ServiceTest : public engine::EngineTest {
 protected:
  // Policies are written without their version.
  static std::string whole(std::string_view policy) { return "version: 1\n" + std::string(policy); }

  void serve(std::string_view policy) {
    load(whole(policy));
    open();
  }
  void open() {
    clock_.set(now_);
    auto service = Service::open(*engine_, clock_, {.directory = folder_.path()});
    ASSERT_TRUE(service) << service.error().message();
    service_ = std::move(*service);
  }
  // A server that starts again with what the log has.
  void restart(std::string_view policy) {
    service_.reset();
    serve(policy);
  }
  void change_policy(std::string_view policy) {
    const auto ruleset = match::ruleset_of(whole(policy));
    auto prepared = service_->prepare(ruleset);
    ASSERT_TRUE(prepared) << prepared.error().message();
    ASSERT_TRUE(engine_->reload(ruleset, SetClock(now_), std::move(prepared->exceptions)));
    service_->take(std::move(*prepared));
  }

  Answer ask(ServiceRequest request) {
    clock_.set(now_);
    if (request.by.empty()) request.by = "ops";
    return service_->answer(request);
  }
  // `fields` are those of a JSON object, without its braces.
  Answer put(std::string_view fields, std::string_view if_match = "") {
    return ask({.action = ServiceRequest::Action::put,
                .body = "{" + std::string(fields) + "}",
                .if_match = std::string(if_match)});
  }
  Answer block(std::string_view fields) {
    return ask({.action = ServiceRequest::Action::put, .kind = Kind::block, .body = "{" + std::string(fields) + "}"});
  }
  Answer remove(std::string_view id, Kind kind = Kind::limit_override) {
    return ask({.action = ServiceRequest::Action::remove, .kind = kind, .id = std::string(id)});
  }
  std::string list(Kind kind = Kind::limit_override) { return ask({.kind = kind}).text; }
  std::string history(Kind kind = Kind::limit_override) {
    return ask({.action = ServiceRequest::Action::history, .kind = kind}).text;
  }
  void expire() {
    clock_.set(now_);
    service_->expire();
  }

  static Request alice() { return Request::to("GET /api").by("alice"); }

  TemporaryFolder folder_;
  SetClock clock_{now_};
  std::unique_ptr<Service> service_;
};

inline constexpr std::string_view bucket_policy = R"(
tiers: { from: { header: X-Plan }, default: free, names: [free, pro, partner, banned] }
limits:
  - name: api
    consumer_key: user
    algorithm: token_bucket
    rate: 2/h
    tier_overrides:
      pro: { rate: 10/h }
      partner: unlimited
      banned: banned
)";

inline constexpr std::string_view window_policy = R"(
limits:
  - { name: quota, consumer_key: user, algorithm: fixed_window, rate: 3/h }
)";

}  // namespace weir::overrides
