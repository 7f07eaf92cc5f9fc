// Questions by name: the same states, and the same answers, as requests have.
#include "engine/named.h"

#include "engine/consumer.h"
#include "engine/consumer_text.h"
#include "engine/descriptor_name.h"
#include "tests/engine/engine_fixture.h"

namespace weir::engine {
namespace {

constexpr auto policy_text = R"(
version: 1
identity: { trusted_proxies: [10.0.0.0/8], ip: { ipv6_prefix: 56 } }
tiers: { from: { header: X-Plan }, default: free }
limits:
  - name: user
    consumer_key: [user, ip+route]
    missing: share
    algorithm: token_bucket
    rate: 1/min
    burst: 3
    tier_overrides: { pro: { burst: 5 }, staff: unlimited }
  - { name: address, routes: [GET /a, "POST /b/{id}"], consumer_key: ip+route, algorithm: fixed_window, rate: 4/day }
  - { name: all, consumer_key: global, algorithm: gcra, rate: 1/s, burst: 100, cost: 7 }
  - { name: login, routes: [POST /login], consumer_key: "header:x-login+ip", algorithm: sliding_window_log, rate: 2/h }
  - name: soft
    routes: [GET /soft]
    consumer_key: user
    algorithm: fixed_window
    rate: 1/day
    warn_first: { count: 2, per: 1h }
    penalty: { after: 3, within: 1min, block: 10min }
    candidate: { rate: 2/day }
  - { name: trial, routes: [GET /trial], consumer_key: user, algorithm: fixed_window, rate: 1/day, mode: shadow }
)";

class NamedTest : public EngineTest {
 protected:
  void SetUp() override { load(policy_text); }

  Result<Verdict> ask(std::string_view limit, std::string_view consumer, std::string_view tier = {}) {
    return judge_->judge(NamedAsk{.limit = limit, .consumer = consumer, .tier = tier}, now_);
  }
  Result<Verdict> look(std::string_view limit, std::string_view consumer) {
    return judge_->judge(NamedAsk{.limit = limit, .consumer = consumer, .peek = true}, now_);
  }
  std::string error_of(std::string_view limit, std::string_view consumer, std::string_view tier = {}) {
    const auto verdict = ask(limit, consumer, tier);
    return verdict ? "" : verdict.error().message();
  }
  std::uint64_t left(std::string_view limit, std::string_view consumer) {
    const NamedAsk ask{.limit = limit, .consumer = consumer, .cost = Cost{0}};
    return judge_->judge(ask, now_)->decision.remaining;
  }
};

TEST_F(NamedTest, ConsumerHasTheStatesOfItsRequests) {
  struct Row {
    std::string_view limit;
    std::string_view consumer;
    Request request;
    std::uint64_t capacity;
  };
  const std::vector<Row> rows = {
      {"user", "user=alice", Request::to("GET /x").by("alice"), 3},
      {"user", "bob", Request::to("GET /x").by("bob"), 3},
      {"user", "ip=192.0.2.1 + route=GET /a", Request::to("GET /a").from("192.0.2.1"), 3},
      {"user", "ip=::ffff:192.0.2.9 + route=GET /a", Request::to("GET /a").from("192.0.2.9"), 3},
      {"user", "all without a key", Request::to("GET /a").from(""), 3},
      {"address", "ip=192.0.2.2 + route=POST /b/{id}", Request::to("POST /b/7").from("192.0.2.2"), 4},
      {"address", "ip=2001:db8:0:1ff::7 + route=GET /a", Request::to("GET /a").from("2001:db8:0:100::1"), 4},
      {"address", "ip=2001:db8:0:200::/56 + route=GET /a", Request::to("GET /a").from("2001:db8:0:2ab::1"), 4},
      {"login", "header:x-login=a + b + ip=192.0.2.3",
       Request::to("POST /login").from("192.0.2.3").with("X-Login", "a + b"), 2},
  };
  for (const Row& row : rows) {
    const std::uint64_t before = left(row.limit, row.consumer);
    EXPECT_EQ(before, row.capacity) << row.consumer;
    EXPECT_TRUE(passes(row.request)) << row.consumer;
    EXPECT_EQ(left(row.limit, row.consumer), before - 1) << row.consumer;
    EXPECT_EQ(ask(row.limit, row.consumer)->decision.remaining, before - 2) << row.consumer;
  }
}

TEST_F(NamedTest, GlobalConsumerIsCalledGlobalOrNothing) {
  EXPECT_EQ(ask("all", "")->decision.remaining, 93U) << "at the cost of the limit";
  EXPECT_EQ(ask("all", "global")->decision.remaining, 86U);
  EXPECT_EQ(judge_->judge(NamedAsk{.limit = "all", .cost = Cost{6}}, now_)->decision.remaining, 80U);
  EXPECT_NE(error_of("all", "someone"), "");
}

TEST_F(NamedTest, WordsForAConsumerAreReadBackToItsKey) {
  const auto& limits = judge_->plan().ruleset().limits;
  for (const auto& [limit, words] :
       std::vector<std::pair<std::size_t, std::string>>{{0, "user=alice"},
                                                        {0, "user=ip=192.0.2.1"},
                                                        {0, "ip=192.0.2.1 + route=GET /a"},
                                                        {0, "all without a key"},
                                                        {1, "ip=2001:db8::/56 + route=POST /b/{id}"},
                                                        {2, "global"},
                                                        {3, "header:x-login=a=b + ip=192.0.2.1"}}) {
    std::string key;
    ASSERT_TRUE(read_consumer(limits[limit], judge_->plan().ruleset().identity, words, key)) << words;
    EXPECT_EQ(describe_consumer(key), words);
  }
}

TEST_F(NamedTest, PartsOfAConsumerAreToldOneByOne) {
  std::vector<std::string> parts;
  std::string key;
  ASSERT_TRUE(read_consumer(judge_->plan().ruleset().limits[1], judge_->plan().ruleset().identity,
                            "ip=2001:db8::1 + route=GET /a", key));
  for_each_part(key, [&](const policy::KeyPart& name, std::string_view text) {
    parts.push_back(text_of(name) + " is " + std::string(text));
  });
  EXPECT_EQ(parts, (std::vector<std::string>{"ip is 2001:db8::/56", "route is GET /a"}));
}

TEST_F(NamedTest, WhatCannotBeReadIsRefused) {
  struct Row {
    std::string_view limit;
    std::string_view consumer;
    std::string_view tier;
    std::string_view message;
  };
  constexpr std::string_view unfit_address =
      "consumer: does not fit limit 'address', or in two ways: write ip=... + route=...";
  for (const Row& row : std::vector<Row>{
           {"usr", "alice", "",
            "limit 'usr': is not in the policy, did you mean 'user'? There are user, address, all, login, soft, trial"},
           {"something-else", "alice", "",
            "limit 'something-else': is not in the policy; there are user, address, all, login, soft, trial"},
           {"user", "alice", "pto", "tier 'pto': is not in the policy, did you mean 'pro'?"},
           {"user", "", "",
            "consumer: does not fit limit 'user', or in two ways: write user=... or ip=... + route=..."},
           {"address", "192.0.2.1", "", unfit_address},
           {"address", "ip=192.0.2.1", "", unfit_address},
           {"address", "ip=192.0.2 + route=GET /a", "", unfit_address},
           {"address", "ip=192.0.2.0/24 + route=GET /a", "", unfit_address},
           {"address", "ip=2001:db8::/48 + route=GET /a", "", unfit_address},
           {"address", "route=GET /a + ip=192.0.2.1", "", unfit_address},
           {"address", "ip=192.0.2.1 + route=GET /a + route=GET /a", "", unfit_address},
           {"address", "ip=192.0.2.1 + route=", "", unfit_address},
           {"address", "all without a key", "", unfit_address},
           {"address", "ip=192.0.2.1 + route=GET /b", "",
            "route 'GET /b': is not in the policy, did you mean 'GET /a'?"},
       }) {
    EXPECT_EQ(error_of(row.limit, row.consumer, row.tier), row.message) << row.consumer;
  }
}

TEST_F(NamedTest, TierChoosesTheNumbers) {
  EXPECT_EQ(ask("user", "carol", "pro")->decision.remaining, 4U);
  EXPECT_EQ(ask("user", "carol", "free")->decision.limit, 3U);
  const auto staff = ask("user", "carol", "staff");
  EXPECT_TRUE(staff->admitted);
  EXPECT_EQ(staff->reason, Reason::uncovered);
  EXPECT_EQ(total(Event::unlimited), 1U);
}

TEST_F(NamedTest, GraduatedResponsesAndCandidatesFollow) {
  const std::vector<Reason> expected = {Reason::within,   Reason::warned,   Reason::warned, Reason::exceeded,
                                        Reason::exceeded, Reason::exceeded, Reason::blocked};
  for (const Reason reason : expected) EXPECT_EQ(ask("soft", "dave")->reason, reason);
  EXPECT_EQ(total(Event::candidate_newly_admitted), 1U) << "the second of two";
  EXPECT_EQ(send(Request::to("GET /soft").by("dave")).reason, Reason::blocked);
}

TEST_F(NamedTest, ShadowLimitDeniesNobody) {
  EXPECT_TRUE(ask("trial", "erin")->admitted);
  EXPECT_TRUE(ask("trial", "erin")->admitted);
  EXPECT_EQ(total(Event::shadow_denied), 1U);
}

TEST_F(NamedTest, CountsForTheConsumersRouteOrForOther) {
  std::ignore = ask("address", "ip=192.0.2.1 + route=POST /b/{id}");
  EXPECT_EQ(ask("soft", "frank")->route, "other");
  EXPECT_EQ(ask("user", "ip=192.0.2.1 + route=GET /a")->route, "GET /a");
  const auto totals = engine_->totals().by_limit_and_route;
  EXPECT_EQ(totals.at({"address", "POST /b/{id}"})[0], 1U);
  EXPECT_EQ(totals.at({"soft", "other"})[0], 1U);
  EXPECT_EQ(totals.at({"user", "GET /a"})[0], 1U);
}

TEST_F(NamedTest, BatchIsJudgedInOrderAndAnErrorInItHarmsNobody) {
  std::vector<NamedAsk> asks(40, NamedAsk{.limit = "user", .consumer = "gina"});
  asks[1].limit = "nothing";
  std::vector<Result<Verdict>> verdicts(40);
  judge_->judge(asks, now_, verdicts);
  const std::vector<bool> expected = {true, false, true, true, false};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(verdicts[i].has_value() && verdicts[i]->admitted, expected[i]) << i;
  }
  EXPECT_FALSE(verdicts[1]);
  EXPECT_EQ(verdicts[39]->reason, Reason::exceeded);
  EXPECT_EQ(verdicts[39]->outcomes.size(), 1U);
}

TEST_F(NamedTest, ResetForgetsTheConsumerInEveryTable) {
  for (int i = 0; i < 7; ++i) std::ignore = ask("soft", "dave");
  std::ignore = ask("soft", "else");
  ASSERT_EQ(look("soft", "dave")->reason, Reason::blocked);
  ASSERT_TRUE(judge_->reset(NamedAsk{.limit = "soft", .consumer = "user=dave"}, now_));
  const std::vector<Reason> anew = {Reason::within, Reason::warned, Reason::warned, Reason::exceeded};
  for (const Reason reason : anew) EXPECT_EQ(ask("soft", "dave")->reason, reason);
  EXPECT_EQ(look("soft", "else")->reason, Reason::warned) << "others keep their states";
  EXPECT_FALSE(judge_->reset(NamedAsk{.limit = "sft", .consumer = "dave"}, now_));
}

TEST_F(NamedTest, ConsumerOfAQuestionIsToldByItsKey) {
  EXPECT_EQ(describe_consumer(judge_->consumer_of(NamedAsk{.limit = "user", .consumer = "alice"})), "user=alice");
}

// What an operator types is one consumer, or is refused.
class OneMeaningTest : public EngineTest {
 protected:
  void SetUp() override {
    load(R"(
version: 1
limits:
  - { name: everything, consumer_key: [user, ip], algorithm: fixed_window, rate: 2/h }
  - { name: mixed, consumer_key: [ip, user+route], routes: [GET /a], algorithm: fixed_window, rate: 2/h }
)");
  }
  std::string refusal(std::string_view limit, std::string_view consumer) {
    const NamedAsk ask{.limit = limit, .consumer = consumer, .peek = true, .one_meaning = true};
    const auto looked = judge_->judge(ask, now_);
    const auto forgotten = judge_->reset(ask, now_);
    EXPECT_EQ(looked.has_value(), forgotten.has_value()) << consumer;
    return looked ? "" : looked.error().message();
  }
};

TEST_F(OneMeaningTest, ValueThatCouldBeTwoConsumersIsRefusedWithBothSpellings) {
  EXPECT_EQ(refusal("everything", "127.0.0.1"), "consumer: could be 'user=127.0.0.1' or 'ip=127.0.0.1': write which");
  EXPECT_EQ(refusal("everything", "alice"), "") << "is no address";
  EXPECT_EQ(refusal("everything", "user=127.0.0.1"), "");
  EXPECT_EQ(refusal("everything", "ip=127.0.0.1"), "");
  EXPECT_EQ(refusal("mixed", "127.0.0.1"), "") << "the other key has two parts";
}

TEST_F(OneMeaningTest, WrongAddressIsNotTakenForAUser) {
  EXPECT_EQ(refusal("everything", "ip=300.1.1.1"),
            "consumer: does not fit limit 'everything', or in two ways: write user=... or ip=...");
}

TEST_F(OneMeaningTest, WhatAStrangerCallsHimselfIsJudged) {
  const NamedAsk ask{.limit = "everything", .consumer = "127.0.0.1"};
  EXPECT_TRUE(judge_->judge(ask, now_)->admitted);
  EXPECT_TRUE(judge_->judge(ask, now_)->admitted);
  EXPECT_FALSE(judge_->judge(ask, now_)->admitted);
  EXPECT_EQ(describe_consumer(judge_->consumer_of(ask)), "user=127.0.0.1");
  EXPECT_TRUE(judge_->judge(NamedAsk{.limit = "mixed", .consumer = "192.0.2.1"}, now_)->admitted);
}

TEST_F(OneMeaningTest, UnknownLimitIsToldTheOnesThereAre) {
  EXPECT_EQ(refusal("by-user", "alice"), "limit 'by-user': is not in the policy; there are everything, mixed");
  EXPECT_EQ(refusal("mixd", "alice"),
            "limit 'mixd': is not in the policy, did you mean 'mixed'? There are everything, mixed");
}

TEST(ResetTest, StateThatOthersShareStaysAndIsSaid) {
  const auto engine = *Engine::create(
      ruleset_of("version: 1\nlimits:\n  - { name: api, consumer_key: user, algorithm: fixed_window, rate: 2/h }\n"),
      {.memory_budget = std::size_t{1} << 20, .hash_key = {1, 2}});
  const auto judge = engine->new_judge();
  const Instant now{1'700'000'000s};
  const auto charge = [&](const std::string& user) {
    const NamedAsk ask{.limit = "api", .consumer = user};
    return judge->judge(ask, now)->admitted;
  };
  int last = 0;
  while (engine->plan()->tables().overflowed() == 0) EXPECT_TRUE(charge("user=" + std::to_string(last++)));
  const std::string newcomer = "user=" + std::to_string(last - 1);
  const auto refused = judge->reset(NamedAsk{.limit = "api", .consumer = newcomer}, now);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().what.starts_with("shares a state with others for want of memory, and that was not reset"))
      << refused.error().what;
  EXPECT_TRUE(charge(newcomer));
  EXPECT_FALSE(charge(newcomer)) << "it was not reset";
  EXPECT_TRUE(judge->reset(NamedAsk{.limit = "api", .consumer = "user=0"}, now)) << "a known one has its own";
}

constexpr auto descriptors = R"(
domain: edge
descriptors:
  - key: address
    rate_limit: { unit: hour, requests_per_unit: 2 }
    descriptors:
      - { key: path, value: /login, rate_limit: { unit: hour, requests_per_unit: 1 } }
      - { key: path, value: /health, rate_limit: { unlimited: true } }
)";

TEST(DescriptorResetTest, ForgetsOneDescriptor) {
  const auto engine =
      *Engine::create(ruleset_of(descriptors), {.memory_budget = std::size_t{64} << 20, .hash_key = {1, 2}});
  const auto judge = engine->new_judge();
  const auto passes = [&](const std::vector<DescriptorEntry>& entries) {
    const DescriptorAsk ask{.entries = entries, .limit_override = {}};
    DescriptorStatus status;
    return judge->judge("edge", {&ask, 1}, Instant{}, {&status, 1});
  };
  const std::vector<DescriptorEntry> login{{"address", "a"}, {"path", "/login"}};
  const std::vector<DescriptorEntry> others{{"address", "b"}, {"path", "/login"}};
  EXPECT_TRUE(passes(login) && passes(others));
  EXPECT_FALSE(passes(login));
  EXPECT_TRUE(judge->reset(DescriptorName{"edge", login}, Instant{}));
  EXPECT_TRUE(passes(login));
  EXPECT_FALSE(passes(others));
}

TEST(DescriptorNameTest, WhatHasNoLimitIsToldWhatHas) {
  const auto ruleset = ruleset_of(descriptors);
  std::string key;
  const auto refusal = [&](std::string_view domain, const std::vector<DescriptorEntry>& entries) {
    const auto found = find_descriptor(*ruleset, {domain, entries}, key);
    return found ? "" : found.error().message();
  };
  EXPECT_EQ(refusal("edge", {{"address", "a"}}), "");
  EXPECT_EQ(refusal("edgy", {{"address", "a"}}), "domain 'edgy': is not in the policy; there is edge");
  EXPECT_EQ(refusal("edge", {{"adress", "a"}, {"x", "1"}}),
            "descriptor 'adress=a + x=1': has no limit in domain 'edge'; there are limits for 'address', "
            "'address + path=/login', 'address + path=/health'");
}

TEST(NamedDescriptorTest, LimitReachedByDescriptorsIsRefused) {
  const policy::Loaded loaded = policy::load_path(std::string(WEIR_SOURCE_DIR) + "/examples/ratelimit/accounts.yaml");
  ASSERT_TRUE(loaded.ruleset);
  const auto engine = *Engine::create(loaded.ruleset, {.memory_budget = std::size_t{64} << 20, .hash_key = {1, 2}});
  const std::string name = loaded.ruleset->limits[0].name;
  const auto verdict = engine->new_judge()->judge(NamedAsk{.limit = name}, Instant{});
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().what, "is reached by descriptors only: ask for its domain and entries");
}

TEST_F(NamedTest, HeaderOfAConsumerIsReadInAnyCase) {
  load("{version: 1, limits: [{name: a, consumer_key: 'header:X-Tenant', algorithm: gcra, rate: 1/h}]}");
  ASSERT_TRUE(passes(Request::to("GET /").with("X-Tenant", "bob")));
  ASSERT_FALSE(passes(Request::to("GET /").with("X-Tenant", "bob")));
  ASSERT_TRUE(judge_->reset({.limit = "a", .consumer = "header:X-Tenant=bob", .one_meaning = true}, now_));
  EXPECT_TRUE(passes(Request::to("GET /").with("X-Tenant", "bob")));
}

}  // namespace
}  // namespace weir::engine
