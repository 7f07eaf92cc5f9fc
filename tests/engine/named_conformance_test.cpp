// Named queries use the same states and get the same answers as requests.
#include "match/named.h"

#include "match/consumer.h"
#include "tests/engine/store_fixture.h"

namespace weir::engine {
namespace {

constexpr auto named_limits = R"(
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

class NamedTest : public StoreTest {
 protected:
  void SetUp() override { load(named_limits); }

  Result<Verdict> ask(std::string_view limit, std::string_view consumer, std::string_view tier = {}) {
    return send(NamedQuery{.limit = limit, .consumer = consumer, .tier = tier});
  }
  Result<Verdict> look(std::string_view limit, std::string_view consumer) {
    return send(NamedQuery{.limit = limit, .consumer = consumer, .peek = true});
  }
  std::string error_of(std::string_view limit, std::string_view consumer, std::string_view tier = {}) {
    const auto verdict = ask(limit, consumer, tier);
    return verdict ? "" : verdict.error().message();
  }
  std::uint64_t left(std::string_view limit, std::string_view consumer) {
    return send(NamedQuery{.limit = limit, .consumer = consumer, .cost = Cost{0}})->decision.remaining;
  }
};
class AnsweredNamedTest : public NamedTest {};
INSTANTIATE_TEST_SUITE_P(Stores, NamedTest, every_store, store_name);
INSTANTIATE_TEST_SUITE_P(Stores, AnsweredNamedTest, answering_stores, store_name);

TEST_P(NamedTest, ConsumerHasTheStatesOfItsRequests) {
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

TEST_P(NamedTest, GlobalConsumerIsCalledGlobalOrNothing) {
  EXPECT_EQ(ask("all", "")->decision.remaining, 93U) << "at the cost of the limit";
  EXPECT_EQ(ask("all", "global")->decision.remaining, 86U);
  EXPECT_EQ(send(NamedQuery{.limit = "all", .cost = Cost{6}})->decision.remaining, 79U) << "whatever the caller says";
  EXPECT_NE(error_of("all", "someone"), "");
}

TEST_P(NamedTest, WordsForAConsumerAreReadBackToItsKey) {
  const auto& limits = bindings().ruleset().limits;
  for (const auto& [limit, words] :
       std::vector<std::pair<std::size_t, std::string>>{{0, "user=alice"},
                                                        {0, "user=ip=192.0.2.1"},
                                                        {0, "ip=192.0.2.1 + route=GET /a"},
                                                        {0, "all without a key"},
                                                        {1, "ip=2001:db8::/56 + route=POST /b/{id}"},
                                                        {2, "global"},
                                                        {3, "header:x-login=a=b + ip=192.0.2.1"}}) {
    std::string key;
    ASSERT_TRUE(match::read_consumer(limits[limit], bindings().ruleset().identity, words, key)) << words;
    EXPECT_EQ(match::describe_consumer(key), words);
  }
}

TEST_P(NamedTest, PartsOfAConsumerAreReadOneByOne) {
  std::vector<std::string> parts;
  std::string key;
  ASSERT_TRUE(match::read_consumer(bindings().ruleset().limits[1], bindings().ruleset().identity,
                                   "ip=2001:db8::1 + route=GET /a", key));
  match::for_each_part(key, [&](const policy::KeyPart& name, std::string_view text) {
    parts.push_back(policy::text_of(name) + " is " + std::string(text));
  });
  EXPECT_EQ(parts, (std::vector<std::string>{"ip is 2001:db8::/56", "route is GET /a"}));
}

TEST_P(NamedTest, MalformedConsumerIsRejected) {
  struct Row {
    std::string_view limit;
    std::string_view consumer;
    std::string_view tier;
    std::string_view message;
  };
  constexpr std::string_view unfit_address =
      "consumer: does not match the key of limit 'address', or is ambiguous: write ip=... + route=...";
  for (const Row& row : std::vector<Row>{
           {"usr", "alice", "",
            "limit 'usr': unknown, did you mean 'user'? Valid limits: user, address, all, login, soft, trial"},
           {"something-else", "alice", "",
            "limit 'something-else': unknown; valid limits: user, address, all, login, soft, trial"},
           {"user", "alice", "pto", "tier 'pto': unknown, did you mean 'pro'?"},
           {"user", "", "",
            "consumer: does not match the key of limit 'user', or is ambiguous: write user=... or ip=... + route=..."},
           {"address", "192.0.2.1", "", unfit_address},
           {"address", "ip=192.0.2.1", "", unfit_address},
           {"address", "ip=192.0.2 + route=GET /a", "", unfit_address},
           {"address", "ip=192.0.2.0/24 + route=GET /a", "", unfit_address},
           {"address", "ip=2001:db8::/48 + route=GET /a", "", unfit_address},
           {"address", "route=GET /a + ip=192.0.2.1", "", unfit_address},
           {"address", "ip=192.0.2.1 + route=GET /a + route=GET /a", "", unfit_address},
           {"address", "ip=192.0.2.1 + route=", "", unfit_address},
           {"address", "all without a key", "", unfit_address},
           {"address", "ip=192.0.2.1 + route=GET /b", "", "route 'GET /b': unknown, did you mean 'GET /a'?"},
       }) {
    EXPECT_EQ(error_of(row.limit, row.consumer, row.tier), row.message) << row.consumer;
  }
}

TEST_P(NamedTest, TierChoosesTheNumbers) {
  EXPECT_EQ(ask("user", "carol", "pro")->decision.remaining, 4U);
  EXPECT_EQ(ask("user", "carol", "free")->decision.limit, 3U);
  const auto staff = ask("user", "carol", "staff");
  EXPECT_TRUE(staff->admitted);
  EXPECT_EQ(staff->reason, Reason::uncovered);
  EXPECT_EQ(total(Event::unlimited), 1U);
}

TEST_P(AnsweredNamedTest, GraduatedResponsesAndCandidatesFollow) {
  const std::vector<Reason> expected = {Reason::within,   Reason::warned,   Reason::warned, Reason::exceeded,
                                        Reason::exceeded, Reason::exceeded, Reason::blocked};
  for (const Reason reason : expected) EXPECT_EQ(ask("soft", "dave")->reason, reason);
  EXPECT_EQ(total(Event::candidate_newly_admitted), 1U) << "the second of two";
  EXPECT_EQ(send(Request::to("GET /soft").by("dave")).reason, Reason::blocked);
}

TEST_P(NamedTest, ShadowLimitDeniesNothing) {
  EXPECT_TRUE(ask("trial", "erin")->admitted);
  EXPECT_TRUE(ask("trial", "erin")->admitted);
  EXPECT_EQ(total(Event::shadow_denied), 1U);
}

TEST_P(NamedTest, CountsForTheConsumersRouteOrForOther) {
  std::ignore = ask("address", "ip=192.0.2.1 + route=POST /b/{id}");
  EXPECT_EQ(ask("soft", "frank")->route, "other");
  EXPECT_EQ(ask("user", "ip=192.0.2.1 + route=GET /a")->route, "GET /a");
  const auto totals = engine_->totals().by_limit_and_route;
  EXPECT_EQ(totals.at({"address", "POST /b/{id}"})[0], 1U);
  EXPECT_EQ(totals.at({"soft", "other"})[0], 1U);
  EXPECT_EQ(totals.at({"user", "GET /a"})[0], 1U);
}

TEST_P(NamedTest, BatchIsEvaluatedInOrderAndAnErrorInItHarmsNoOther) {
  const EvaluationBatchPtr batch = evaluator_->new_batch();
  for (std::size_t i = 0; i < 40; ++i) batch->add(NamedQuery{.limit = i == 1 ? "nothing" : "user", .consumer = "gina"});
  set_clocks();
  ASSERT_TRUE(batch->submit());
  const std::vector<bool> expected = {true, false, true, true, false};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(batch->error(i) == nullptr && batch->verdict(i).admitted, expected[i]) << i;
  }
  EXPECT_NE(batch->error(1), nullptr);
  EXPECT_EQ(batch->verdict(39).reason, Reason::exceeded);
  EXPECT_EQ(batch->verdict(39).outcomes.size(), 1U);
}

TEST_P(AnsweredNamedTest, ResetForgetsTheConsumerInEveryTable) {
  for (int i = 0; i < 7; ++i) std::ignore = ask("soft", "dave");
  std::ignore = ask("soft", "else");
  ASSERT_EQ(look("soft", "dave")->reason, Reason::blocked);
  ASSERT_TRUE(reset(NamedQuery{.limit = "soft", .consumer = "user=dave"}));
  const std::vector<Reason> anew = {Reason::within, Reason::warned, Reason::warned, Reason::exceeded};
  for (const Reason reason : anew) EXPECT_EQ(ask("soft", "dave")->reason, reason);
  EXPECT_EQ(look("soft", "else")->reason, Reason::warned) << "others keep their states";
  EXPECT_FALSE(reset(NamedQuery{.limit = "sft", .consumer = "dave"}));
}

TEST_P(NamedTest, ConsumerOfANamedQueryIsReportedByItsKey) {
  EXPECT_EQ(consumer_of(NamedQuery{.limit = "user", .consumer = "alice"}), "user=alice");
}

// An ambiguous consumer is rejected.
class OneMeaningTest : public StoreTest {
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
    const NamedQuery ask{.limit = limit, .consumer = consumer, .peek = true, .one_meaning = true};
    const auto looked = send(ask);
    const auto forgotten = reset(ask);
    EXPECT_EQ(looked.has_value(), forgotten.has_value()) << consumer;
    return looked ? "" : looked.error().message();
  }
};
INSTANTIATE_TEST_SUITE_P(Stores, OneMeaningTest, answering_stores, store_name);

TEST_P(OneMeaningTest, AmbiguousValueIsRejectedWithBothSpellings) {
  EXPECT_EQ(refusal("everything", "127.0.0.1"), "consumer: ambiguous: write 'user=127.0.0.1' or 'ip=127.0.0.1'");
  EXPECT_EQ(refusal("everything", "alice"), "") << "is no address";
  EXPECT_EQ(refusal("everything", "user=127.0.0.1"), "");
  EXPECT_EQ(refusal("everything", "ip=127.0.0.1"), "");
  EXPECT_EQ(refusal("mixed", "127.0.0.1"), "") << "the other key has two parts";
}

TEST_P(OneMeaningTest, WrongAddressIsNotTakenForAUser) {
  const std::string message =
      "consumer: 'ip=300.1.1.1' is not an IP address: write ip=192.0.2.7 or ip=[2001:db8::7]:443";
  EXPECT_EQ(refusal("everything", "ip=300.1.1.1"), message);
  const auto asked = send(NamedQuery{.limit = "everything", .consumer = "ip=300.1.1.1"});
  ASSERT_FALSE(asked) << "each such text would have a counter of its own";
  EXPECT_EQ(asked.error().message(), message);
  EXPECT_EQ(consumer_of(NamedQuery{.limit = "everything", .consumer = "user=ip=300.1.1.1"}), "user=ip=300.1.1.1");
}

TEST_P(OneMeaningTest, AddressWithAPartBehindItIsNotTakenForAWrongOne) {
  reload(R"(
version: 1
limits:
  - { name: both, consumer_key: [ip+user, ip], algorithm: fixed_window, rate: 2/h }
)");
  EXPECT_EQ(refusal("both", "ip=192.0.2.1 + user=alice"), "");
  EXPECT_EQ(consumer_of(NamedQuery{.limit = "both", .consumer = "ip=192.0.2.1 + user=alice"}),
            "ip=192.0.2.1 + user=alice");
}

TEST_P(OneMeaningTest, AddressWithAPortOrInBracketsIsThatAddress) {
  for (const std::string_view consumer : {"ip=192.0.2.7:51234", "ip=[192.0.2.7]", "ip=::ffff:192.0.2.7"}) {
    EXPECT_EQ(consumer_of(NamedQuery{.limit = "everything", .consumer = consumer}), "ip=192.0.2.7") << consumer;
  }
  EXPECT_EQ(consumer_of(NamedQuery{.limit = "mixed", .consumer = "[2001:db8::1]:443"}), "ip=2001:db8::/64");
}

TEST_P(OneMeaningTest, AllAddressesThatCannotBeReadAreOneConsumerWhichOnlyItsFullNameMeans) {
  EXPECT_TRUE(passes(Request::to("GET /b").from("foo")));
  EXPECT_TRUE(passes(Request::to("GET /b").from("bar")));
  EXPECT_FALSE(passes(Request::to("GET /b").from("192.0.2.7:port")));
  EXPECT_TRUE(passes(Request::to("GET /b").from("192.0.2.7:80")));
  const NamedQuery unreadable{.limit = "everything", .consumer = "ip=unreadable", .peek = true};
  EXPECT_FALSE(send(unreadable)->admitted);
  EXPECT_EQ(consumer_of(unreadable), "ip=unreadable");
  ASSERT_TRUE(reset(unreadable));
  EXPECT_TRUE(passes(Request::to("GET /b").from("foo")));
  EXPECT_EQ(consumer_of(NamedQuery{.limit = "everything", .consumer = "unreadable"}), "user=unreadable");
}

TEST_P(OneMeaningTest, NameThatAStrangerChoseIsDecided) {
  const NamedQuery ask{.limit = "everything", .consumer = "127.0.0.1"};
  EXPECT_TRUE(send(ask)->admitted);
  EXPECT_TRUE(send(ask)->admitted);
  EXPECT_FALSE(send(ask)->admitted);
  EXPECT_EQ(consumer_of(ask), "user=127.0.0.1");
  EXPECT_TRUE(send(NamedQuery{.limit = "mixed", .consumer = "192.0.2.1"})->admitted);
}

TEST_P(OneMeaningTest, UnknownLimitErrorListsTheLimits) {
  EXPECT_EQ(refusal("by-user", "alice"), "limit 'by-user': unknown; valid limits: everything, mixed");
  EXPECT_EQ(refusal("mixd", "alice"), "limit 'mixd': unknown, did you mean 'mixed'? Valid limits: everything, mixed");
}

TEST(ResetTest, SharedStateIsNotResetAndIsAnError) {
  const auto engine = *Engine::create(
      ruleset_of("version: 1\nlimits:\n  - { name: api, consumer_key: user, algorithm: fixed_window, rate: 2/h }\n"),
      {.memory_budget = std::size_t{1} << 20, .hash_key = {1, 2}});
  const auto evaluator = engine->new_evaluator();
  const Instant now{1'700'000'000s};
  const auto charge = [&](const std::string& user) {
    const NamedQuery ask{.limit = "api", .consumer = user};
    return evaluator->evaluate(ask, now)->admitted;
  };
  int last = 0;
  while (engine->bindings()->tables().overflowed() == 0) EXPECT_TRUE(charge("user=" + std::to_string(last++)));
  const std::string newcomer = "user=" + std::to_string(last - 1);
  const auto refused = evaluator->reset(NamedQuery{.limit = "api", .consumer = newcomer}, now);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().what.starts_with(
      "shares a state with other consumers because memory is full, so it was not reset"))
      << refused.error().what;
  EXPECT_TRUE(charge(newcomer));
  EXPECT_FALSE(charge(newcomer)) << "it was not reset";
  EXPECT_TRUE(evaluator->reset(NamedQuery{.limit = "api", .consumer = "user=0"}, now)) << "a known one has its own";
}

constexpr auto edge_domain = R"(
domain: edge
descriptors:
  - key: address
    rate_limit: { unit: hour, requests_per_unit: 2 }
    descriptors:
      - { key: path, value: /login, rate_limit: { unit: hour, requests_per_unit: 1 } }
      - { key: path, value: /health, rate_limit: { unlimited: true } }
)";

class DescriptorResetTest : public StoreTest {};
INSTANTIATE_TEST_SUITE_P(Stores, DescriptorResetTest, answering_stores, store_name);

TEST_P(DescriptorResetTest, ForgetsOneDescriptor) {
  load(edge_domain);
  set_clocks();
  const auto passes = [&](const std::vector<DescriptorEntry>& entries) {
    const DescriptorQuery ask{.entries = entries, .limit_override = {}};
    DescriptorStatus status;
    return evaluator_->evaluate("edge", {&ask, 1}, now_, {&status, 1});
  };
  const std::vector<DescriptorEntry> login{{"address", "a"}, {"path", "/login"}};
  const std::vector<DescriptorEntry> others{{"address", "b"}, {"path", "/login"}};
  EXPECT_TRUE(passes(login) && passes(others));
  EXPECT_FALSE(passes(login));
  EXPECT_TRUE(evaluator_->reset(DescriptorName{"edge", login}, now_));
  EXPECT_TRUE(passes(login));
  EXPECT_FALSE(passes(others));
}

TEST(NamedDescriptorTest, LimitReachedByDescriptorsIsRejected) {
  const policy::Loaded loaded = policy::load_path(std::string(WEIR_SOURCE_DIR) + "/examples/ratelimit/accounts.yaml");
  ASSERT_TRUE(loaded.ruleset);
  const auto engine = *Engine::create(loaded.ruleset, {.memory_budget = std::size_t{64} << 20, .hash_key = {1, 2}});
  const std::string name = loaded.ruleset->limits[0].name;
  const auto verdict = engine->new_evaluator()->evaluate(NamedQuery{.limit = name}, Instant{});
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().what, "is reached by descriptors only: ask for its domain and entries");
}

TEST_P(AnsweredNamedTest, HeaderOfAConsumerIsReadInAnyCase) {
  load("{version: 1, limits: [{name: a, consumer_key: 'header:X-Tenant', algorithm: gcra, rate: 1/h}]}");
  ASSERT_TRUE(passes(Request::to("GET /").with("X-Tenant", "bob")));
  ASSERT_FALSE(passes(Request::to("GET /").with("X-Tenant", "bob")));
  ASSERT_TRUE(reset({.limit = "a", .consumer = "header:X-Tenant=bob", .one_meaning = true}));
  EXPECT_TRUE(passes(Request::to("GET /").with("X-Tenant", "bob")));
}

}  // namespace
}  // namespace weir::engine
