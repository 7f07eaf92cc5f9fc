// Questions to a shared store: what holds when it answers late, or not at all.
#include "engine/hearing.h"

#include <gtest/gtest.h>

#include <thread>

#include "engine/until_more.h"
#include "tests/engine/hearing_fixture.h"

namespace weir::engine {
namespace {

using store::StoreFailure;

constexpr auto one_limit = R"(
version: 1
limits:
  - { name: api, consumer_key: ip, algorithm: token_bucket, rate: 6/min, burst: 10 }
)";

TEST(Hearing, IsOverWhenTheStoreHasAnswered) {
  SharedEngine shared(one_limit);
  const Asked asked(Request::to("GET /"));
  bool told = false;
  shared.hearing->clear();
  shared.hearing->add(asked.query());
  shared.hearing->begin([&] { told = true; });
  EXPECT_FALSE(shared.hearing->over());
  EXPECT_EQ(shared.store.waiting(), 1U);
  EXPECT_FALSE(told);
  shared.store.deliver();
  EXPECT_TRUE(told);
  ASSERT_TRUE(shared.hearing->over());
  EXPECT_TRUE(shared.hearing->verdict(0)->admitted);
  EXPECT_EQ(shared.hearing->verdict(0)->decision.remaining, 9U);
  EXPECT_EQ(shared.path(StorePath::shared), 1U);
}

TEST(Hearing, KeysNameTheLimitAndTheConsumer) {
  SharedEngine shared(one_limit);
  const Asked asked(Request::to("GET /").from("192.0.2.7"));
  shared.hearing->clear();
  shared.hearing->add(asked.query());
  shared.hearing->begin([] {});
  EXPECT_EQ(shared.store.asks().front()->checks.at(0).key, "weir:{api:ip:9:192.0.2.7}:tb");
  shared.store.deliver_all();
}

TEST(Hearing, AQuestionThatNoLimitCoversIsOverAtOnce) {
  SharedEngine shared(R"(
version: 1
limits:
  - { name: api, routes: [/api], consumer_key: ip, algorithm: token_bucket, rate: 6/min }
)");
  const Asked asked(Request::to("GET /other"));
  bool told = false;
  shared.hearing->clear();
  shared.hearing->add(asked.query());
  shared.hearing->begin([&] { told = true; });
  EXPECT_TRUE(shared.hearing->over());
  EXPECT_FALSE(told);
  EXPECT_EQ(shared.hearing->verdict(0)->reason, Reason::uncovered);
}

TEST(Hearing, SeveralQuestionsAreToldOnce) {
  SharedEngine shared(one_limit);
  const Asked asked(Request::to("GET /"));
  int told = 0;
  shared.hearing->clear();
  for (int i = 0; i < 12; ++i) shared.hearing->add(asked.query());
  shared.hearing->begin([&] { ++told; });
  EXPECT_EQ(shared.store.waiting(), 12U);
  shared.store.deliver_all();
  EXPECT_EQ(told, 1);
  int admitted = 0;
  for (std::size_t i = 0; i < 12; ++i) admitted += shared.hearing->verdict(i)->admitted ? 1 : 0;
  EXPECT_EQ(admitted, 10);
}

TEST(Hearing, AbandonedItEndsUntold) {
  SharedEngine shared(one_limit);
  auto hearing = shared.judge->new_hearing();
  {
    const Asked asked(Request::to("GET /"));
    hearing->add(asked.query());
    hearing->begin([] { FAIL(); });
    hearing->abandon();
  }
  std::weak_ptr<Hearing> seen = hearing;
  hearing.reset();
  EXPECT_FALSE(seen.expired());  // the store still has its ask
  shared.store.deliver_all();
  EXPECT_TRUE(seen.expired());
}

TEST(Hearing, AReloadMeanwhileLeavesTheVerdictAsAsked) {
  SharedEngine shared(one_limit);
  const Asked asked(Request::to("GET /"));
  shared.hearing->clear();
  shared.hearing->add(asked.query());
  shared.hearing->begin([] {});
  ASSERT_TRUE(shared.engine->reload(ruleset_of(R"(
version: 1
limits:
  - { name: other, consumer_key: global, algorithm: gcra, rate: 1/min }
)"),
                                    shared.clock));
  shared.store.deliver_all();
  EXPECT_EQ(shared.hearing->plan().limits()[shared.hearing->verdict(0)->limit].source->name, "api");
  EXPECT_EQ(shared.hearing->verdict(0)->decision.remaining, 9U);
}

// The share of a node that is cut off takes longer to fill, which is of no account on the store.
TEST(Hearing, AfterAReloadNobodyWaitsLongerThanTheNewNumbersSay) {
  const auto policy = [](std::string_view numbers) {
    return "{version: 1, limits: [{name: api, consumer_key: ip, algorithm: gcra, " + std::string(numbers) + "}]}";
  };
  SharedEngine shared(policy("rate: 1/h, burst: 1"));
  shared.at(shared.clock.now());
  const Request request = Request::to("GET /");
  EXPECT_EQ(shared.passing(request, 3), 1);
  ASSERT_TRUE(shared.engine->reload(ruleset_of(policy("rate: 1/s, burst: 1")), shared.clock));
  EXPECT_EQ(shared.send(request)->decision.retry_after, Duration{1s});
  shared.at(shared.clock.now() + 1s);
  EXPECT_EQ(shared.passing(request, 3), 1);
}

// What each choice does when the store is away, and what counts it.
struct Choice {
  const char* words;
  int passing;  // of twelve
  Reason reason;
  StorePath path;
};

class OutageTest : public testing::TestWithParam<Choice> {};

TEST_P(OutageTest, TheLimitSaysWhatHolds) {
  const Choice& choice = GetParam();
  SharedEngine shared(std::string(R"(
version: 1
limits:
  - { name: api, consumer_key: ip, algorithm: token_bucket, rate: 6/min, burst: 10, )") +
                      choice.words + " }\n");
  shared.store.away = true;
  EXPECT_EQ(shared.passing(Request::to("GET /"), 12), choice.passing);
  EXPECT_EQ(shared.send(Request::to("GET /"))->reason, choice.reason);
  EXPECT_EQ(shared.path(choice.path), 13U);
  EXPECT_EQ(shared.path(StorePath::shared), 0U);
}

INSTANTIATE_TEST_SUITE_P(Choices, OutageTest,
                         testing::Values(Choice{"on_store_failure: local", 5, Reason::exceeded, StorePath::local},
                                         Choice{"on_store_failure: local, local_share: 0.25", 2, Reason::exceeded,
                                                StorePath::local},
                                         Choice{"on_store_failure: open", 12, Reason::store_away, StorePath::open},
                                         Choice{"on_store_failure: closed", 0, Reason::store_away, StorePath::closed}));

TEST(Outage, EveryFailureOfTheFirstStepIsJudgedHere) {
  for (const auto failure : {StoreFailure::timeout, StoreFailure::lost, StoreFailure::refused, StoreFailure::away,
                             StoreFailure::disagreement}) {
    SharedEngine shared(one_limit);
    const Asked asked(Request::to("GET /"));
    shared.hearing->clear();
    shared.hearing->add(asked.query());
    shared.hearing->begin([] {});
    shared.store.fail(failure);
    ASSERT_TRUE(shared.hearing->over());
    EXPECT_TRUE(shared.hearing->verdict(0)->admitted);
    EXPECT_EQ(shared.hearing->verdict(0)->decision.limit, 5U);
    EXPECT_EQ(shared.path(StorePath::local), 1U);
  }
}

TEST(Outage, WhatWasAdmittedHereIsChargedBackAtTheNextTouch) {
  SharedEngine shared(one_limit);
  const Request request = Request::to("GET /");
  shared.store.away = true;
  EXPECT_EQ(shared.passing(request, 4), 4);
  shared.store.away = false;
  EXPECT_EQ(shared.send(request)->decision.remaining, 5U);  // ten, less four, less this one
  EXPECT_EQ(shared.send(request)->decision.remaining, 4U);  // and only once
}

TEST(Outage, WhatWasRefilledMeanwhileIsNotChargedBack) {
  SharedEngine shared(one_limit);
  const Request request = Request::to("GET /");
  shared.store.away = true;
  EXPECT_EQ(shared.passing(request, 4), 4);
  shared.at(shared.clock.now() + 60s);  // three of them, at half the rate
  shared.store.away = false;
  EXPECT_EQ(shared.send(request)->decision.remaining, 8U);
}

TEST(Outage, ChargeBackNeverGoesIntoDebt) {
  SharedEngine shared(one_limit);
  const Request request = Request::to("GET /");
  EXPECT_EQ(shared.passing(request, 8), 8);
  shared.store.away = true;
  EXPECT_EQ(shared.passing(request, 5), 5);
  shared.store.away = false;
  const auto& verdict = shared.send(request);
  EXPECT_FALSE(verdict->admitted);
  EXPECT_EQ(verdict->retry_after, Duration(10s));  // one token
}

TEST(Outage, WhatCouldNotBeSentIsStillOwed) {
  SharedEngine shared(one_limit);
  const Request request = Request::to("GET /");
  shared.store.away = true;
  EXPECT_EQ(shared.passing(request, 4), 4);
  shared.store.away = false;
  const Asked asked(request);
  shared.hearing->clear();
  shared.hearing->add(asked.query());
  shared.hearing->begin([] {});
  shared.store.fail(StoreFailure::away);
  EXPECT_TRUE(shared.hearing->verdict(0)->admitted);        // the fifth of five
  EXPECT_EQ(shared.send(request)->decision.remaining, 4U);  // ten, less five, less this one
}

// Whether it passes, the store failing that way after it was asked.
bool passes_on_failure(SharedEngine& shared, const Request& request, StoreFailure failure) {
  const Asked asked(request);
  shared.hearing->clear();
  shared.hearing->add(asked.query());
  shared.hearing->begin([] {});
  shared.store.fail(failure);
  return shared.hearing->verdict(0)->admitted;
}

TEST(Outage, AskingInVainIsNoRefill) {
  for (const auto failure : {StoreFailure::timeout, StoreFailure::lost, StoreFailure::refused, StoreFailure::away,
                             StoreFailure::disagreement}) {
    SharedEngine shared(one_limit);
    int passed = 0;
    for (int i = 0; i < 20; ++i) passed += passes_on_failure(shared, Request::to("GET /"), failure) ? 1 : 0;
    EXPECT_EQ(passed, 5) << static_cast<int>(failure);
  }
}

TEST(Outage, ProbesInVainDuringAnOutageAreNoRefill) {
  SharedEngine shared(one_limit);
  const Request request = Request::to("GET /");
  int passed = 0;
  for (int i = 0; i < 20; ++i) {
    shared.store.away = true;
    passed += shared.passing(request, 3);
    shared.store.away = false;
    passed += passes_on_failure(shared, request, StoreFailure::timeout) ? 1 : 0;
  }
  EXPECT_EQ(passed, 5);
}

TEST(Outage, WhatMayHaveBeenCountedThereIsNotChargedBack) {
  const std::pair<StoreFailure, unsigned> rows[] = {{StoreFailure::away, 6},
                                                    {StoreFailure::refused, 6},
                                                    {StoreFailure::timeout, 9},
                                                    {StoreFailure::lost, 9},
                                                    {StoreFailure::disagreement, 9}};
  for (const auto& [failure, left] : rows) {
    SharedEngine shared(one_limit);
    const Request request = Request::to("GET /");
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(passes_on_failure(shared, request, failure));
    EXPECT_EQ(shared.send(request)->decision.remaining, left) << static_cast<int>(failure);
  }
}

TEST(Outage, TheShareRefillsHoweverOftenItIsAsked) {
  SharedEngine shared(one_limit);
  const Request request = Request::to("GET /");
  shared.store.away = true;
  EXPECT_EQ(shared.passing(request, 6), 5);
  int passed = 0;
  for (int second = 0; second < 60; ++second) {  // at half the rate, three
    shared.at(shared.clock.now() + 1s);
    passed += shared.passes(request) ? 1 : 0;
  }
  EXPECT_EQ(passed, 3);
}

TEST(Outage, WhoIsResetOwesNothing) {
  SharedEngine shared(one_limit);
  const Request request = Request::to("GET /");
  shared.store.away = true;
  EXPECT_EQ(shared.passing(request, 3), 3);
  shared.store.away = false;
  shared.hearing->clear();
  shared.hearing->add_reset({.limit = "api", .consumer = request.ip});
  shared.hearing->begin([] {});
  shared.store.deliver_all();
  ASSERT_TRUE(shared.hearing->reset(0));
  EXPECT_EQ(shared.send(request)->decision.remaining, 9U);
}

TEST(Outage, WhatIsChargedBackStillCountsHereInTheNextOutage) {
  SharedEngine shared(one_limit);
  const Request request = Request::to("GET /");
  shared.store.away = true;
  EXPECT_EQ(shared.passing(request, 4), 4);
  shared.store.away = false;
  EXPECT_TRUE(shared.passes(request));
  shared.store.away = true;
  EXPECT_EQ(shared.passing(request, 4), 1);
}

TEST(Outage, WhenMoreIsLeftIsToldOfTheShare) {
  for (const char* algorithm : {"token_bucket, rate: 10/min", "sliding_window_log, rate: 10/min",
                                "sliding_window_counter, rate: 10/min", "fixed_window, rate: 10/min"}) {
    SCOPED_TRACE(algorithm);
    SharedEngine shared("{version: 1, limits: [{name: api, consumer_key: ip, algorithm: " + std::string(algorithm) +
                        "}]}");
    shared.store.away = true;
    const Request request = Request::to("GET /");
    EXPECT_EQ(shared.passing(request, 5), 5);
    const Verdict denied = *shared.send(request);
    ASSERT_FALSE(denied.admitted);
    EXPECT_EQ(until_more(shared.hearing->plan(), denied.outcomes[0], denied.tier, denied.at), denied.retry_after);
  }
}

TEST(Outage, AClosedLimitSaysWhenToTryAgain) {
  SharedEngine shared(
      "{version: 1, limits: [{name: api, consumer_key: ip, algorithm: gcra, rate: 10/min, "
      "on_store_failure: closed}]}");
  shared.store.away = true;
  const Verdict denied = *shared.send(Request::to("GET /"));
  EXPECT_EQ(until_more(shared.hearing->plan(), denied.outcomes[0], denied.tier, denied.at), denied.retry_after);
}

TEST(Outage, ShadowDescriptorsAreJudgedByTheShare) {
  SharedEngine shared(R"(
domain: messaging
descriptors:
  - { key: quiet, rate_limit: { unit: minute, requests_per_unit: 4 }, shadow_mode: true }
)");
  shared.store.away = true;
  const std::vector<DescriptorEntry> entries{{"quiet", "x"}};
  const std::vector<DescriptorAsk> asks{{entries, Cost{1}, {}}};
  for (const bool within : {true, true, false}) {
    shared.hearing->clear();
    shared.hearing->add("messaging", asks);
    shared.hearing->begin([] {});
    ASSERT_TRUE(shared.hearing->over());
    EXPECT_TRUE(shared.hearing->admitted(0));
    EXPECT_EQ(shared.hearing->statuses(0)[0].decision.admitted, within);
  }
}

// As on tables: the steps that it takes are the store's affair.
TEST(Hearing, QuotasAndBansOfDescriptorsAreJudgedAsOnTables) {
  for (const bool away : {false, true}) {
    SharedEngine shared(R"(
domain: messaging
descriptors:
  - { key: backend, value: first, quota_mode: true, rate_limit: { unit: day, requests_per_unit: 2 } }
  - { key: backend, value: second, quota_mode: true, rate_limit: { unit: day, requests_per_unit: 4 } }
  - { key: user, rate_limit: { unit: day, requests_per_unit: 100 } }
  - { key: user, value: mallory, rate_limit: { unit: day, requests_per_unit: 0 } }
)");
    shared.store.away = away;
    const int whole = away ? 1 : 2;  // of the numbers: half of them while it is away
    const std::vector<DescriptorEntry> first{{"backend", "first"}};
    const std::vector<DescriptorEntry> second{{"backend", "second"}};
    const std::vector<DescriptorEntry> alice{{"user", "alice"}};
    const std::vector<DescriptorEntry> mallory{{"user", "mallory"}};
    const auto ask = [&](const std::vector<DescriptorAsk>& asks) {
      shared.hearing->clear();
      shared.hearing->add("messaging", asks);
      shared.hearing->begin([] {});
      shared.store.deliver_all();
      EXPECT_TRUE(shared.hearing->over());
      return shared.hearing->admitted(0);
    };
    const std::vector<DescriptorAsk> call{{first, Cost{1}, {}}, {second, Cost{1}, {}}, {alice, Cost{1}, {}}};
    EXPECT_FALSE(ask({{mallory, Cost{1}, {}}, {second, Cost{1}, {}}}));
    for (int i = 0; i < 2 * whole; ++i) {
      EXPECT_TRUE(ask(call)) << away << i;
      EXPECT_EQ(shared.hearing->statuses(0)[0].admitted, i < whole) << away << i;
      EXPECT_TRUE(shared.hearing->statuses(0)[1].admitted) << away << i;
    }
    EXPECT_FALSE(ask(call)) << away;
    EXPECT_TRUE(shared.hearing->statuses(0)[2].admitted);
    EXPECT_TRUE(ask({{alice, Cost{1}, {}}}));
    EXPECT_EQ(shared.hearing->statuses(0)[0].decision.remaining, static_cast<std::uint64_t>(48 * whole - 1))
        << "denied calls charged nothing";
  }
}

// The same on a shared store, and while it is away on this process's share.
TEST(Hearing, HitsOfDescriptorsAreGivenBack) {
  SharedEngine shared(R"(
domain: messaging
descriptors: [{ key: all, rate_limit: { unit: day, requests_per_unit: 4 } }]
)");
  const std::vector<DescriptorEntry> entries{{"all", "x"}};
  const auto remaining_after = [&](std::uint64_t hits, bool gives_back) {
    const std::vector<DescriptorAsk> asks{{entries, Cost{hits}, {}, gives_back}};
    shared.hearing->clear();
    shared.hearing->add("messaging", asks);
    shared.hearing->begin([] {});
    shared.store.deliver_all();
    EXPECT_TRUE(shared.hearing->admitted(0));
    return shared.hearing->statuses(0)[0].decision.remaining;
  };
  EXPECT_EQ(remaining_after(3, false), 1U);
  EXPECT_EQ(remaining_after(2, true), 3U);
  EXPECT_EQ(remaining_after(100, true), 4U);
  EXPECT_EQ(remaining_after(4, false), 0U);

  shared.store.away = true;
  EXPECT_EQ(remaining_after(2, false), 0U);  // half of four
  EXPECT_EQ(remaining_after(1, true), 1U);
}

// What the one who waits does may take locks that a reload has.
TEST(Hearing, WhoWaitsIsToldWithoutTheHold) {
  SharedEngine shared(one_limit);
  const Asked asked(Request::to("GET /"));
  bool free = false;
  shared.hearing->clear();
  shared.hearing->add(asked.query());
  shared.hearing->begin([&] {
    std::thread other([&] { free = Judge::Hold(shared.judge->hold()).owns_lock(); });
    other.join();
  });
  shared.store.deliver_all();
  EXPECT_TRUE(free);
}

TEST(Outage, AClosedLimitDeniesWithoutChargingTheOthers) {
  SharedEngine shared(R"(
version: 1
limits:
  - { name: login, routes: [POST /login], consumer_key: ip, algorithm: gcra, rate: 5/min, on_store_failure: closed }
  - { name: all, consumer_key: global, algorithm: gcra, rate: 6/min, burst: 6 }
)");
  shared.store.away = true;
  const auto& denied = shared.send(Request::to("POST /login"));
  EXPECT_FALSE(denied->admitted);
  EXPECT_EQ(denied->reason, Reason::store_away);
  EXPECT_EQ(shared.judge->plan().limits()[denied->limit].source->name, "login");
  EXPECT_TRUE(denied->retry_after);
  EXPECT_EQ(shared.passing(Request::to("GET /"), 5), 3);
}

TEST(Outage, ItIsCountedAsWhatItWas) {
  SharedEngine shared(one_limit);
  shared.store.away = true;
  (void)shared.passing(Request::to("GET /"), 8);
  const auto totals = shared.engine->totals().by_limit_and_route;
  const EventTotals& row = totals.at({"api", "other"});
  EXPECT_EQ(row[static_cast<std::size_t>(Event::admitted)], 5U);
  EXPECT_EQ(row[static_cast<std::size_t>(Event::denied)], 3U);
}

TEST(Hearing, AQuestionByNameAndAResetGoToTheStore) {
  SharedEngine shared(one_limit);
  const auto ask = [&](bool peek) {
    shared.hearing->clear();
    shared.hearing->add(NamedAsk{.limit = "api", .consumer = "192.0.2.1", .peek = peek});
    shared.hearing->begin([] {});
    shared.store.deliver_all();
    return shared.hearing->verdict(0)->decision.remaining;
  };
  EXPECT_EQ(ask(false), 9U);
  EXPECT_EQ(ask(false), 8U);
  EXPECT_EQ(ask(true), 7U);
  EXPECT_EQ(ask(true), 7U);
  shared.hearing->clear();
  shared.hearing->add_reset({.limit = "api", .consumer = "192.0.2.1"});
  shared.hearing->begin([] {});
  shared.store.deliver_all();
  EXPECT_TRUE(shared.hearing->reset(0));
  EXPECT_EQ(ask(false), 9U);
}

TEST(Hearing, AnUnknownNameIsAnErrorAmongOthers) {
  SharedEngine shared(one_limit);
  shared.hearing->clear();
  shared.hearing->add(NamedAsk{.limit = "apy", .consumer = "192.0.2.1"});
  shared.hearing->add(NamedAsk{.limit = "api", .consumer = "192.0.2.1"});
  shared.hearing->add_reset(NamedAsk{.limit = "apy", .consumer = "192.0.2.1"});
  shared.hearing->begin([] {});
  shared.store.deliver_all();
  ASSERT_TRUE(shared.hearing->over());
  EXPECT_FALSE(shared.hearing->verdict(0));
  EXPECT_TRUE(shared.hearing->verdict(1));
  EXPECT_FALSE(shared.hearing->reset(2));
}

TEST(Hearing, AResetThatDidNotReachTheStoreIsAnError) {
  SharedEngine shared(one_limit);
  shared.store.away = true;
  shared.hearing->clear();
  shared.hearing->add_reset({.limit = "api", .consumer = "192.0.2.1"});
  shared.hearing->begin([] {});
  ASSERT_TRUE(shared.hearing->over());
  EXPECT_FALSE(shared.hearing->reset(0));
}

TEST(Hearing, ThrottleIsOnTheStoreAndUnknownWhenItIsAway) {
  SharedEngine shared(one_limit);
  const core::Gcra::Limit limit(*Limit::gcra({{1, Duration(1s)}, 3}));
  const auto ask = [&] {
    shared.hearing->clear();
    shared.hearing->add_throttle("key", limit, Cost{1});
    shared.hearing->begin([] {});
    shared.store.deliver_all();
    return shared.hearing->decision(0);
  };
  ASSERT_NE(ask(), nullptr);
  EXPECT_EQ(ask()->remaining, 1U);
  shared.store.away = true;
  EXPECT_EQ(ask(), nullptr);
}

}  // namespace
}  // namespace weir::engine
