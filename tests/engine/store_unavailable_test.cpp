// Decisions while the shared store is unavailable, by each limit's on_store_failure, and the charges when it is back.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/engine/shared_engine.h"

namespace weir::engine {
namespace {

using store::Failure;

constexpr std::array all_failures{Failure::timeout, Failure::lost, Failure::refused, Failure::unavailable,
                                  Failure::disagreement};

// True if the request is admitted while the store fails in this way.
bool passes_on_failure(SharedEngine& shared, const Request& request, Failure failure) {
  shared.store.failing = failure;
  const bool passed = shared.passes(request);
  shared.start_store();
  return passed;
}

// The effect of each choice, and the path that counts it.
struct Choice {
  const char* words;
  int passing;  // out of twelve
  Reason reason;
  Path path;
};

class OnStoreFailureTest : public testing::TestWithParam<Choice> {};

TEST_P(OnStoreFailureTest, OnStoreFailureDecides) {
  const Choice& choice = GetParam();
  SharedEngine shared(std::string(R"(
version: 1
limits:
  - { name: api, consumer_key: ip, algorithm: token_bucket, rate: 6/min, burst: 10, )") +
                      choice.words + " }\n");
  shared.stop_store();
  EXPECT_EQ(shared.passing(Request::to("GET /"), 12), choice.passing);
  EXPECT_EQ(shared.send(Request::to("GET /")).reason, choice.reason);
  EXPECT_EQ(shared.path(choice.path), 13U);
  EXPECT_EQ(shared.path(Path::store), 0U);
}

INSTANTIATE_TEST_SUITE_P(
    Choices, OnStoreFailureTest,
    testing::Values(Choice{"on_store_failure: local", 5, Reason::exceeded, Path::share},
                    Choice{"on_store_failure: local, local_share: 0.25", 2, Reason::exceeded, Path::share},
                    Choice{"on_store_failure: open", 12, Reason::store_unavailable, Path::open},
                    Choice{"on_store_failure: closed", 0, Reason::store_unavailable, Path::closed}));

TEST(StoreUnavailable, EveryFailureOfTheFirstStepIsDecidedHere) {
  for (const auto failure : all_failures) {
    SharedEngine shared(six_per_minute);
    shared.store.failing = failure;
    const Verdict& verdict = shared.send(Request::to("GET /"));
    EXPECT_TRUE(verdict.admitted);
    EXPECT_EQ(verdict.decision.limit, 5U);
    EXPECT_EQ(shared.path(Path::share), 1U);
  }
}

TEST(StoreUnavailable, WhatWasAdmittedHereIsChargedBackWithTheNextDecision) {
  SharedEngine shared(six_per_minute);
  const Request request = Request::to("GET /");
  shared.stop_store();
  EXPECT_EQ(shared.passing(request, 4), 4);
  shared.start_store();
  EXPECT_EQ(shared.send(request).decision.remaining, 5U);  // ten, less four, less this one
  EXPECT_EQ(shared.send(request).decision.remaining, 4U);  // charged only once
}

TEST(StoreUnavailable, UnitsRefilledDuringTheOutageAreNotChargedBack) {
  SharedEngine shared(six_per_minute);
  const Request request = Request::to("GET /");
  shared.stop_store();
  EXPECT_EQ(shared.passing(request, 4), 4);
  shared.at(shared.clock.now() + 60s);  // three of them, at half the rate
  shared.start_store();
  EXPECT_EQ(shared.send(request).decision.remaining, 8U);
}

TEST(StoreUnavailable, ChargeBackNeverGoesIntoDebt) {
  SharedEngine shared(six_per_minute);
  const Request request = Request::to("GET /");
  EXPECT_EQ(shared.passing(request, 8), 8);
  shared.stop_store();
  EXPECT_EQ(shared.passing(request, 5), 5);
  shared.start_store();
  const Verdict& verdict = shared.send(request);
  EXPECT_FALSE(verdict.admitted);
  EXPECT_EQ(verdict.retry_after, Duration(10s));  // one token
}

TEST(StoreUnavailable, WhatCouldNotBeSentIsStillToBeCharged) {
  SharedEngine shared(six_per_minute);
  const Request request = Request::to("GET /");
  shared.stop_store();
  EXPECT_EQ(shared.passing(request, 4), 4);
  shared.start_store();
  EXPECT_TRUE(passes_on_failure(shared, request, Failure::unavailable));  // the fifth of five
  EXPECT_EQ(shared.send(request).decision.remaining, 4U);                 // ten, less five, less this one
}

TEST(StoreUnavailable, AskingInVainIsNoRefill) {
  for (const auto failure : all_failures) {
    SharedEngine shared(six_per_minute);
    int passed = 0;
    for (int i = 0; i < 20; ++i) passed += passes_on_failure(shared, Request::to("GET /"), failure) ? 1 : 0;
    EXPECT_EQ(passed, 5) << static_cast<int>(failure);
  }
}

TEST(StoreUnavailable, ProbesInVainDuringAnOutageAreNoRefill) {
  SharedEngine shared(six_per_minute);
  const Request request = Request::to("GET /");
  int passed = 0;
  for (int i = 0; i < 20; ++i) {
    shared.stop_store();
    passed += shared.passing(request, 3);
    passed += passes_on_failure(shared, request, Failure::timeout) ? 1 : 0;
  }
  EXPECT_EQ(passed, 5);
}

TEST(StoreUnavailable, WhatMayHaveBeenCountedThereIsNotChargedBack) {
  const std::pair<Failure, unsigned> rows[] = {{Failure::unavailable, 6},
                                               {Failure::refused, 6},
                                               {Failure::timeout, 9},
                                               {Failure::lost, 9},
                                               {Failure::disagreement, 9}};
  for (const auto& [failure, left] : rows) {
    SharedEngine shared(six_per_minute);
    const Request request = Request::to("GET /");
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(passes_on_failure(shared, request, failure));
    EXPECT_EQ(shared.send(request).decision.remaining, left) << static_cast<int>(failure);
  }
}

TEST(StoreUnavailable, TheShareRefillsHoweverOftenItIsAsked) {
  SharedEngine shared(six_per_minute);
  const Request request = Request::to("GET /");
  shared.stop_store();
  EXPECT_EQ(shared.passing(request, 6), 5);
  int passed = 0;
  for (int second = 0; second < 60; ++second) {  // half the rate: three pass
    shared.at(shared.clock.now() + 1s);
    passed += shared.passes(request) ? 1 : 0;
  }
  EXPECT_EQ(passed, 3);
}

TEST(StoreUnavailable, NothingIsChargedBackForAConsumerThatWasReset) {
  SharedEngine shared(six_per_minute);
  const Request request = Request::to("GET /");
  shared.stop_store();
  EXPECT_EQ(shared.passing(request, 3), 3);
  shared.start_store();
  ASSERT_EQ(shared.reset({.limit = "api", .consumer = request.ip}), nullptr);
  EXPECT_EQ(shared.send(request).decision.remaining, 9U);
}

TEST(StoreUnavailable, WhatIsChargedBackStillCountsHereInTheNextOutage) {
  SharedEngine shared(six_per_minute);
  const Request request = Request::to("GET /");
  shared.stop_store();
  EXPECT_EQ(shared.passing(request, 4), 4);
  shared.start_store();
  EXPECT_TRUE(shared.passes(request));
  shared.stop_store();
  EXPECT_EQ(shared.passing(request, 4), 0) << "four, and the one that the store has admitted since";
}

TEST(StoreUnavailable, MoreAfterIsThatOfTheShare) {
  for (const char* algorithm : {"token_bucket, rate: 10/min", "sliding_window_log, rate: 10/min",
                                "sliding_window_counter, rate: 10/min", "fixed_window, rate: 10/min"}) {
    SCOPED_TRACE(algorithm);
    SharedEngine shared("{version: 1, limits: [{name: api, consumer_key: ip, algorithm: " + std::string(algorithm) +
                        "}]}");
    shared.stop_store();
    const Request request = Request::to("GET /");
    EXPECT_EQ(shared.passing(request, 5), 5);
    const Verdict denied = shared.send(request);
    ASSERT_FALSE(denied.admitted);
    EXPECT_EQ(denied.outcomes[0].decision.more_after, denied.retry_after);
  }
}

TEST(StoreUnavailable, AClosedLimitHasARetryAfter) {
  SharedEngine shared(
      "{version: 1, limits: [{name: api, consumer_key: ip, algorithm: gcra, rate: 10/min, "
      "on_store_failure: closed}]}");
  shared.stop_store();
  const Verdict denied = shared.send(Request::to("GET /"));
  EXPECT_EQ(denied.retry_after, store::closed_retry_after);
  EXPECT_EQ(denied.outcomes[0].decision.more_after, denied.retry_after);
}

TEST(StoreUnavailable, AClosedLimitDeniesWithoutChargingTheOthers) {
  SharedEngine shared(R"(
version: 1
limits:
  - { name: login, routes: [POST /login], consumer_key: ip, algorithm: gcra, rate: 5/min, on_store_failure: closed }
  - { name: all, consumer_key: global, algorithm: gcra, rate: 6/min, burst: 6 }
)");
  shared.stop_store();
  const Verdict& denied = shared.send(Request::to("POST /login"));
  EXPECT_FALSE(denied.admitted);
  EXPECT_EQ(denied.reason, Reason::store_unavailable);
  EXPECT_EQ(shared.evaluator->bindings().limits()[denied.limit].source->name, "login");
  EXPECT_TRUE(denied.retry_after);
  EXPECT_EQ(shared.passing(Request::to("GET /"), 5), 3);
}

TEST(StoreUnavailable, AnOpenLimitDoesNotDisableTheOthers) {
  SharedEngine shared(R"(
version: 1
limits:
  - { name: wide, consumer_key: ip, algorithm: gcra, rate: 1/min, burst: 1, on_store_failure: open }
  - { name: all, consumer_key: global, algorithm: gcra, rate: 6/min, burst: 6 }
)");
  shared.stop_store();
  EXPECT_EQ(shared.passing(Request::to("GET /"), 5), 3);
  const Verdict& denied = shared.send(Request::to("GET /"));
  EXPECT_EQ(denied.reason, Reason::exceeded);
  EXPECT_EQ(shared.evaluator->bindings().limits()[denied.limit].source->name, "all");
}

// This also holds if a block started while this process decided on its share.
TEST(StoreUnavailable, ALimitThatIsOpenedOrClosedInAnOutageIsSoWithItsBlock) {
  const auto policy = [](std::string_view choice) {
    return R"(
version: 1
limits:
  - name: login
    consumer_key: ip
    algorithm: gcra
    rate: 1/min
    burst: 1
    penalty: { after: 1, within: 1min, block: 10min }
    on_store_failure: )" +
           std::string(choice) + R"(
  - { name: all, consumer_key: global, algorithm: gcra, rate: 1/day, burst: 8 }
)";
  };
  SharedEngine shared(policy("local"));
  const Request request = Request::to("GET /");
  shared.stop_store();
  EXPECT_TRUE(shared.passes(request));
  EXPECT_EQ(shared.send(request).reason, Reason::exceeded);
  EXPECT_EQ(shared.send(request).reason, Reason::blocked);
  ASSERT_TRUE(shared.engine->reload(ruleset_of(policy("closed")), shared.clock));
  const Verdict denied = shared.send(request);
  EXPECT_EQ(denied.reason, Reason::store_unavailable);
  EXPECT_EQ(denied.retry_after, store::closed_retry_after);
  ASSERT_TRUE(shared.engine->reload(ruleset_of(policy("open")), shared.clock));
  EXPECT_EQ(shared.passing(request, 9), 3) << "the other limit is charged, and had one of its four used";
}

TEST(StoreUnavailable, ItIsCountedAsWhatItWas) {
  SharedEngine shared(six_per_minute);
  shared.stop_store();
  (void)shared.passing(Request::to("GET /"), 8);
  const auto totals = shared.engine->totals().by_limit_and_route;
  const EventTotals& row = totals.at({"api", "other"});
  EXPECT_EQ(row[static_cast<std::size_t>(Event::admitted)], 5U);
  EXPECT_EQ(row[static_cast<std::size_t>(Event::denied)], 3U);
}

// The share of a disconnected process takes longer to fill, which does not matter on the store.
TEST(StoreUnavailable, AfterAReloadWaitsFollowTheNewNumbers) {
  const auto policy = [](std::string_view numbers) {
    return "{version: 1, limits: [{name: api, consumer_key: ip, algorithm: gcra, " + std::string(numbers) + "}]}";
  };
  SharedEngine shared(policy("rate: 1/h, burst: 1"));
  const Request request = Request::to("GET /");
  EXPECT_EQ(shared.passing(request, 3), 1);
  ASSERT_TRUE(shared.engine->reload(ruleset_of(policy("rate: 1/s, burst: 1")), shared.clock));
  EXPECT_EQ(shared.send(request).decision.retry_after, Duration{1s});
  shared.at(shared.clock.now() + 1s);
  EXPECT_EQ(shared.passing(request, 3), 1);
}

// --- differences by design, see store_fixture.h

TEST(StoreUnavailable, CandidatesAreNotAsked) {
  SharedEngine shared(
      "{version: 1, limits: [{name: a, consumer_key: ip, algorithm: gcra, rate: 1/h, burst: 8, candidate: {burst: "
      "1}}]}");
  shared.stop_store();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(shared.send(Request::to("GET /")).outcomes[0].candidate, std::nullopt);
  shared.start_store();
  EXPECT_TRUE(shared.send(Request::to("GET /")).outcomes[0].candidate->admitted) << "it was charged nothing";
}

// This also holds if the store answers again by then: the verdict was local, so a candidate cannot be compared with it.
TEST(StoreUnavailable, CandidatesAreNotAskedOfAStoreThatIsBackAtOnce) {
  SharedEngine shared(
      "{version: 1, limits: [{name: a, consumer_key: ip, algorithm: gcra, rate: 1/h, burst: 8, candidate: {burst: "
      "1}}]}");
  const Asked asked(Request::to("GET /"));
  shared.store.holds = true;
  shared.batch->add(asked.query());
  ASSERT_FALSE(shared.batch->submit());
  shared.store.fail(Failure::timeout);
  EXPECT_EQ(shared.store.waiting(), 0U);
  ASSERT_FALSE(shared.batch->in_flight());
  EXPECT_EQ(shared.batch->verdict(0).outcomes[0].candidate, std::nullopt);
}

TEST(StoreUnavailable, AResetReturnsAnError) {
  SharedEngine shared(six_per_minute);
  shared.stop_store();
  const Error* const error = shared.reset({.limit = "api", .consumer = "192.0.2.1"});
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->message(), "store: unavailable: the consumer may not have been reset; retry when the store is back");
}

TEST(StoreUnavailable, OfWhatARequestBringsAlongHalfIsAdmittedHere) {
  SharedEngine shared(R"(
domain: messaging
descriptors: [{ key: all, rate_limit: { unit: day, requests_per_unit: 4 } }]
)");
  shared.stop_store();
  const std::vector<DescriptorEntry> entries{{"new", "x"}};
  const std::vector<DescriptorQuery> asks{{entries, Cost{1}, WindowNumbers{6, 1h}}};
  for (int i = 0; i < 5; ++i) EXPECT_EQ(shared.send("messaging", asks), i < 3) << i;

  const core::Gcra::Limit eight(*Limit::gcra({{1, Duration(1s)}, 8}));
  const auto throttle = [&](std::uint64_t quantity) {
    shared.batch->clear();
    shared.batch->add_throttle(shared.evaluator->seek_throttle("key"), "key", eight, Cost{quantity});
    EXPECT_TRUE(shared.batch->submit());
    return shared.batch->throttle(0);
  };
  for (int i = 0; i < 6; ++i) EXPECT_EQ(throttle(1).admitted, i < 4) << i;
  EXPECT_EQ(throttle(1).retry_after, Duration(2s)) << "at half the rate";
  EXPECT_EQ(shared.path(Path::share), 5U + 7U);
  shared.start_store();
  EXPECT_EQ(throttle(6).remaining, 2U) << "it is not charged back: no policy says so";
  EXPECT_EQ(shared.path(Path::store), 1U);
}

TEST(StoreUnavailable, WhatCostsMoreThanHalfMayStillPassCLThrottle) {
  SharedEngine shared(six_per_minute);
  shared.stop_store();
  const core::Gcra::Limit eight(*Limit::gcra({{1, Duration(1s)}, 8}));
  for (const bool passes : {true, false}) {
    shared.batch->clear();
    shared.batch->add_throttle(shared.evaluator->seek_throttle("key"), "key", eight, Cost{7});
    EXPECT_TRUE(shared.batch->submit());
    EXPECT_EQ(shared.batch->throttle(0).admitted, passes);
  }
}

// --- a failure of a later step keeps the store's verdict

// Answers the first group and fails those after it.
Verdict with_later_failure(SharedEngine& shared, const Request& request) {
  const Asked asked(request);
  shared.store.holds = true;
  shared.batch->clear();
  shared.batch->add(asked.query());
  EXPECT_FALSE(shared.batch->submit());
  shared.store.deliver();
  while (shared.store.waiting() > 0) shared.store.fail(Failure::timeout);
  shared.store.holds = false;
  EXPECT_FALSE(shared.batch->in_flight());
  return shared.batch->verdict(0);
}

TEST(StoreFailsLater, CandidateThatIsNotAnsweredIsAsIfItHadNotBeenAsked) {
  SharedEngine shared(
      "{version: 1, limits: [{name: a, consumer_key: ip, algorithm: gcra, rate: 1/h, burst: 8, candidate: {burst: "
      "4}}]}");
  const Verdict verdict = with_later_failure(shared, Request::to("GET /"));
  EXPECT_TRUE(verdict.admitted);
  EXPECT_EQ(verdict.decision.remaining, 7U);
  EXPECT_EQ(verdict.outcomes[0].candidate, std::nullopt);
  EXPECT_EQ(shared.path(Path::store), 1U);
}

TEST(StoreFailsLater, WarningThatIsNotAnsweredIsNotGiven) {
  SharedEngine shared(
      "{version: 1, limits: [{name: a, consumer_key: ip, algorithm: gcra, rate: 1/h, burst: 1, warn_first: {count: 3, "
      "per: 1h}}]}");
  EXPECT_TRUE(shared.passes(Request::to("GET /")));
  EXPECT_EQ(with_later_failure(shared, Request::to("GET /")).reason, Reason::exceeded);
  EXPECT_EQ(shared.send(Request::to("GET /")).reason, Reason::warned);
}

TEST(StoreFailsLater, DenialThatIsNotCountedDoesNotBlock) {
  SharedEngine shared(
      "{version: 1, limits: [{name: a, consumer_key: ip, algorithm: gcra, rate: 1/h, burst: 1, penalty: {after: 1, "
      "within: 1min, block: 10min}}]}");
  EXPECT_TRUE(shared.passes(Request::to("GET /")));
  EXPECT_EQ(with_later_failure(shared, Request::to("GET /")).reason, Reason::exceeded);
  EXPECT_EQ(shared.send(Request::to("GET /")).reason, Reason::exceeded) << "this one begins the block";
  EXPECT_EQ(shared.send(Request::to("GET /")).reason, Reason::blocked);
}

// --- descriptors

constexpr auto quiet_and_quotas = R"(
domain: messaging
descriptors:
  - { key: quiet, rate_limit: { unit: minute, requests_per_unit: 4 }, shadow_mode: true }
  - { key: backend, value: first, quota_mode: true, rate_limit: { unit: day, requests_per_unit: 2 } }
  - { key: backend, value: second, quota_mode: true, rate_limit: { unit: day, requests_per_unit: 4 } }
  - { key: user, rate_limit: { unit: day, requests_per_unit: 100 } }
  - { key: user, value: mallory, rate_limit: { unit: day, requests_per_unit: 0 } }
  - { key: all, rate_limit: { unit: day, requests_per_unit: 4 } }
)";

TEST(StoreUnavailable, ShadowDescriptorsAreDecidedByTheShare) {
  SharedEngine shared(quiet_and_quotas);
  shared.stop_store();
  const std::vector<DescriptorEntry> entries{{"quiet", "x"}};
  const std::vector<DescriptorQuery> asks{{entries, Cost{1}, {}}};
  for (const bool within : {true, true, false}) {
    EXPECT_TRUE(shared.send("messaging", asks));
    EXPECT_EQ(shared.batch->statuses(0)[0].decision.admitted, within);
  }
}

TEST(StoreUnavailable, QuotasAndBansOfDescriptorsAreDecidedByTheShare) {
  for (const bool is_unavailable : {false, true}) {
    SharedEngine shared(quiet_and_quotas);
    if (is_unavailable) shared.stop_store();
    const int whole = is_unavailable ? 1 : 2;  // half of the configured numbers while it is unavailable
    const std::vector<DescriptorEntry> first{{"backend", "first"}};
    const std::vector<DescriptorEntry> second{{"backend", "second"}};
    const std::vector<DescriptorEntry> alice{{"user", "alice"}};
    const std::vector<DescriptorEntry> mallory{{"user", "mallory"}};
    const auto admits = [&](const std::vector<DescriptorQuery>& asks) { return shared.send("messaging", asks); };
    const std::vector<DescriptorQuery> call{{first, Cost{1}, {}}, {second, Cost{1}, {}}, {alice, Cost{1}, {}}};
    EXPECT_FALSE(admits({{mallory, Cost{1}, {}}, {second, Cost{1}, {}}}));
    for (int i = 0; i < 2 * whole; ++i) {
      EXPECT_TRUE(admits(call)) << is_unavailable << i;
      EXPECT_EQ(shared.batch->statuses(0)[0].admitted, i < whole) << is_unavailable << i;
      EXPECT_TRUE(shared.batch->statuses(0)[1].admitted) << is_unavailable << i;
    }
    EXPECT_FALSE(admits(call)) << is_unavailable;
    EXPECT_TRUE(shared.batch->statuses(0)[2].admitted);
    EXPECT_TRUE(admits({{alice, Cost{1}, {}}}));
    EXPECT_EQ(shared.batch->statuses(0)[0].decision.remaining, static_cast<std::uint64_t>(48 * whole - 1))
        << "denied calls charged nothing";
  }
}

TEST(StoreUnavailable, HitsOfDescriptorsAreGivenBackToTheShare) {
  SharedEngine shared(quiet_and_quotas);
  const std::vector<DescriptorEntry> entries{{"all", "x"}};
  const auto remaining_after = [&](std::uint64_t hits, bool gives_back) {
    const std::vector<DescriptorQuery> asks{{entries, Cost{hits}, {}, gives_back}};
    EXPECT_TRUE(shared.send("messaging", asks));
    return shared.batch->statuses(0)[0].decision.remaining;
  };
  EXPECT_EQ(remaining_after(3, false), 1U);
  EXPECT_EQ(remaining_after(2, true), 3U);
  EXPECT_EQ(remaining_after(100, true), 4U);
  EXPECT_EQ(remaining_after(4, false), 0U);

  shared.stop_store();
  EXPECT_EQ(remaining_after(2, false), 0U);  // half of four
  EXPECT_EQ(remaining_after(1, true), 1U);
  EXPECT_EQ(remaining_after(1, false), 0U) << "it is there again";
}

}  // namespace
}  // namespace weir::engine
