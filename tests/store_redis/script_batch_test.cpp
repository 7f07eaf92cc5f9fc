#include "store/redis/script_batch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "tests/store/memory_store.h"
#include "wire/resp/reply_parser.h"

namespace weir::store::redis {
namespace {

using std::chrono::seconds;

const core::Rule gcra = core::compile(*Limit::gcra({{1, seconds(1)}, 10}));
const core::Rule fixed = core::compile(*Limit::fixed_window({10, seconds(60)}));
const core::Rule log_rule = core::compile(*Limit::sliding_window_log({10, seconds(60)}));

Group group_for(std::initializer_list<std::string_view> keys, const core::Rule& rule = gcra, Cost cost = Cost{1}) {
  Group group;
  for (const std::string_view key : keys) {
    group.checks.push_back(check_of(std::string(key), rule, cost.units()));
    group.checks.back().wants_more_after = true;
  }
  return group;
}

// The batch and its groups.
class Filled {
 public:
  [[nodiscard]] bool add(Group group) {
    groups_.push_back(std::move(group));
    if (batch.add(groups_.back())) return true;
    groups_.pop_back();
    return false;
  }
  [[nodiscard]] const Group& operator[](std::size_t i) const { return groups_[i]; }

  bool read(std::string_view bytes) {
    wire::resp::ReplyParser parser;
    if (parser.next(bytes).status != wire::resp::ReplyParser::Status::reply) return false;
    return batch.read(parser.reply());
  }

  ScriptBatch batch;

 private:
  std::deque<Group> groups_;
};

TEST(ScriptBatch, EqualGroupsAreOneEvaluation) {
  Filled filled;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(filled.add(group_for({"a", "b"})));
  EXPECT_EQ(filled.batch.groups(), 100U);
  EXPECT_EQ(filled.batch.evaluations(), 1U);
  EXPECT_EQ(filled.batch.keys(), 2U);
  EXPECT_EQ(filled.batch.first_key(), "a");
  EXPECT_EQ(filled.batch.members().size(), 100U);
}

TEST(ScriptBatch, GroupsThatDifferAreNotFolded) {
  Group guarded = group_for({"a"});
  guarded.checks[0].role = store::Check::Role::guard;
  Group hurried = group_for({"a"});
  hurried.checks[0].max_wait = Duration{1};
  Group looking = group_for({"a"});
  looking.operation = store::Operation::look;
  Group owing = group_for({"a"});
  CheckExtension extension{.charge_back = 3};
  owing.checks[0].extension = &extension;
  for (const Group& other :
       {group_for({"a"}, gcra, Cost{2}), group_for({"b"}), group_for({"a", "b"}), guarded, hurried, looking}) {
    Filled filled;
    ASSERT_TRUE(filled.add(group_for({"a"})) && filled.add(other));
    EXPECT_EQ(filled.batch.evaluations(), 2U);
  }
  Filled filled;
  ASSERT_TRUE(filled.add(owing) && filled.add(owing) && filled.add(group_for({"a"})));
  EXPECT_EQ(filled.batch.evaluations(), 5U) << "each charges back, then decides";
}

TEST(ScriptBatch, GroupsThatDifferOnlyInTheirAnswersAreFolded) {
  Group plain = group_for({"a"});
  plain.checks[0].wants_more_after = false;
  Filled filled;
  ASSERT_TRUE(filled.add(group_for({"a"})) && filled.add(plain));
  EXPECT_EQ(filled.batch.evaluations(), 1U);
  ASSERT_TRUE(filled.read("*3\r\n:1700000000000000\r\n*1\r\n$-1\r\n*1\r\n:2\r\n"));
  EXPECT_EQ(filled[0].checks[0].decision.more_after, seconds(1));
  EXPECT_EQ(filled[1].checks[0].decision.more_after, std::nullopt);
}

TEST(ScriptBatch, WhatCameBetweenOnAKeyStaysBetween) {
  Filled filled;
  ASSERT_TRUE(filled.add(group_for({"a", "b"})));
  ASSERT_TRUE(filled.add(group_for({"b"})));
  ASSERT_TRUE(filled.add(group_for({"a", "b"})));
  EXPECT_EQ(filled.batch.evaluations(), 3U);
  ASSERT_TRUE(filled.add(group_for({"c"})));
  ASSERT_TRUE(filled.add(group_for({"a", "b"})));
  EXPECT_EQ(filled.batch.evaluations(), 4U) << "what came on another key is no hindrance";
}

TEST(ScriptBatch, AGroupWithAKeyTwiceIsDecidedAlone) {
  Filled filled;
  ASSERT_TRUE(filled.add(group_for({"a", "a"})) && filled.add(group_for({"a", "a"})));
  EXPECT_EQ(filled.batch.evaluations(), 2U);
}

TEST(ScriptBatch, IsFullAtItsBounds) {
  Filled hot;
  for (std::size_t i = 0; i < ScriptBatch::max_members; ++i) ASSERT_TRUE(hot.add(group_for({"a"})));
  EXPECT_FALSE(hot.add(group_for({"a"})));

  Filled wide;
  for (std::size_t i = 0; i < ScriptBatch::max_keys; ++i) ASSERT_TRUE(wide.add(group_for({std::to_string(i)})));
  EXPECT_FALSE(wide.add(group_for({"one more"})));
  EXPECT_EQ(wide.batch.keys(), ScriptBatch::max_keys);
  wide.batch.clear();
  EXPECT_TRUE(wide.batch.empty());
  EXPECT_TRUE(wide.add(group_for({"one more"})));
}

TEST(ScriptBatch, ALogThatIsSettledOrForgottenIsAskedNothingElse) {
  for (const store::Operation operation : {store::Operation::settle, store::Operation::forget}) {
    Group alone = group_for({"l"}, log_rule);
    alone.operation = operation;
    alone.settlement = core::Settlement{Cost{1}, Cost{0}, {}};
    Filled before;
    ASSERT_TRUE(before.add(group_for({"l"}, log_rule)));
    EXPECT_FALSE(before.add(alone));
    Filled after;
    ASSERT_TRUE(after.add(alone));
    EXPECT_FALSE(after.add(group_for({"l"}, log_rule)));
    EXPECT_TRUE(after.add(group_for({"another"}, log_rule)));
  }
}

TEST(ScriptBatch, AKeyHasStatesOfOneForm) {
  Filled filled;
  ASSERT_TRUE(filled.add(group_for({"a"}, gcra)));
  EXPECT_FALSE(filled.add(group_for({"a"}, fixed)));
  EXPECT_TRUE(filled.add(group_for({"b"}, fixed)));
}

TEST(ScriptBatch, EachOfTheFoldedHasItsOwnNumbers) {
  Filled filled;
  for (int i = 0; i < 12; ++i) ASSERT_TRUE(filled.add(group_for({"a"})));
  ASSERT_TRUE(filled.read("*3\r\n:1700000000000000\r\n*1\r\n$-1\r\n*1\r\n:10\r\n"));
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(filled[i].failure, Failure::none);
    EXPECT_EQ(filled[i].admitted, i < 10);
    EXPECT_EQ(filled[i].now, Instant{seconds(1'700'000'000)});
    EXPECT_TRUE(filled[i].decided);
    EXPECT_EQ(filled[i].checks[0].decision.remaining, i < 10 ? 9 - i : 0);
    EXPECT_EQ(filled[i].checks[0].decision.more_after, seconds(1));
  }
}

TEST(ScriptBatch, AScriptThatDecidedOtherwiseIsADisagreementOnItsKeysAlone) {
  Filled filled;
  ASSERT_TRUE(filled.add(group_for({"a"})) && filled.add(group_for({"a"}, gcra, Cost{2})) &&
              filled.add(group_for({"b"})) && filled.add(group_for({"b", "c"})) && filled.add(group_for({"d"})));
  ASSERT_TRUE(
      filled.read("*3\r\n:1700000000000000\r\n*4\r\n$-1\r\n$-1\r\n$-1\r\n$-1\r\n*5\r\n:1\r\n:0\r\n:1\r\n:1\r\n:1\r\n"));
  EXPECT_EQ(filled[0].failure, Failure::disagreement);
  EXPECT_EQ(filled[1].failure, Failure::disagreement);
  EXPECT_FALSE(filled[1].admitted);
  for (const std::size_t i : {2U, 3U, 4U}) {
    EXPECT_EQ(filled[i].failure, Failure::none);
    EXPECT_TRUE(filled[i].admitted);
  }
}

TEST(ScriptBatch, AReplyThatIsNotTheScriptsLeavesTheGroupsAsTheyWere) {
  const std::vector<std::string_view> replies{
      "-NOSCRIPT No matching script\r\n",
      "-ERR anything\r\n",
      "+OK\r\n",
      "*0\r\n",
      "*3\r\n:1\r\n*1\r\n$-1\r\n*0\r\n",
      "*3\r\n:1\r\n*3\r\n$-1\r\n$-1\r\n$-1\r\n*1\r\n:1\r\n",
      "*3\r\n:-1\r\n*2\r\n$-1\r\n*-1\r\n*1\r\n:1\r\n",
      "*3\r\n:1\r\n*2\r\n:5\r\n*-1\r\n*1\r\n:1\r\n",
      "*3\r\n:1\r\n*2\r\n$-1\r\n$1\r\nx\r\n*1\r\n:1\r\n",
      "*3\r\n:1\r\n*2\r\n$-1\r\n*3\r\n:1\r\n:1\r\n:1\r\n*1\r\n:1\r\n",
      "*3\r\n:1\r\n*2\r\n$-1\r\n*4\r\n:5\r\n:1\r\n:6\r\n:1\r\n*1\r\n:1\r\n",
      "*3\r\n:1\r\n*2\r\n$-1\r\n*4\r\n:5\r\n:1\r\n:5\r\n:2\r\n*1\r\n:1\r\n",
      "*3\r\n:1\r\n*2\r\n$-1\r\n*-1\r\n*1\r\n:-1\r\n",
      "*3\r\n:1\r\n*2\r\n$-1\r\n*-1\r\n*1\r\n$1\r\n1\r\n",
  };
  for (const std::string_view reply : replies) {
    Filled filled;
    Group group = group_for({"a", "l"});
    group.checks[1].rule = &log_rule;
    group.failure = Failure::lost;
    ASSERT_TRUE(filled.add(group));
    EXPECT_FALSE(filled.read(reply)) << reply;
    EXPECT_EQ(filled[0].failure, Failure::lost);
    EXPECT_FALSE(filled[0].decided);
    for (const Check& check : filled[0].checks) EXPECT_EQ(check.decision, Decision{});
  }
}

// A settled log is returned as it is afterwards, with the charge of each check.
TEST(ScriptBatch, TheChargeToALogIsReturnedForEachCheck) {
  const std::string head = "*6\r\n:1700000000000000\r\n*1\r\n*2\r\n:3\r\n:1700000000000000\r\n*1\r\n:1\r\n";
  const std::string tail = "*0\r\n*0\r\n";
  const std::string without = "*3" + head.substr(2);
  core::ReceiptUse use{.id = {0, 1}};
  const auto read = [&](const std::string& reply) {
    Filled filled;
    Group group = group_for({"l"}, log_rule, Cost{5});
    group.operation = store::Operation::report;
    group.checks[0].receipt = &use;
    EXPECT_TRUE(filled.add(group));
    return filled.read(reply) ? std::optional(filled[0].failure) : std::nullopt;
  };
  EXPECT_EQ(read(head + "*1\r\n:3\r\n" + tail), Failure::none);
  EXPECT_EQ(use.lost, 2U);
  EXPECT_EQ(read(head + "*1\r\n:6\r\n" + tail), Failure::disagreement) << "more than was asked for";
  EXPECT_EQ(read(without), std::nullopt);
  for (const std::string_view charges :
       {"*0\r\n", "*2\r\n:3\r\n:3\r\n", "*1\r\n:-1\r\n", "*1\r\n$1\r\n3\r\n", ":3\r\n"}) {
    EXPECT_EQ(read(head + std::string(charges) + tail), std::nullopt) << charges;
  }
  for (const std::string_view slices :
       {"*1\r\n:1\r\n", "*2\r\n:0\r\n$0\r\n\r\n", "*2\r\n:9\r\n$0\r\n\r\n", "*2\r\n:1\r\n:1\r\n", ":3\r\n"}) {
    EXPECT_EQ(read(head + "*1\r\n:3\r\n" + std::string(slices) + "*0\r\n"), std::nullopt) << slices;
  }
}

TEST(ScriptBatch, ChargesThatNoLogHadAreNotTheScripts) {
  Filled filled;
  ASSERT_TRUE(filled.add(group_for({"a"})));
  EXPECT_FALSE(filled.read("*6\r\n:1700000000000000\r\n*1\r\n$-1\r\n*1\r\n:1\r\n*1\r\n:1\r\n*0\r\n*0\r\n"));
}

}  // namespace
}  // namespace weir::store::redis
