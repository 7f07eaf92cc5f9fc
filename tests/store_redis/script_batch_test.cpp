#include "store/redis/script_batch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <string>
#include <vector>

#include "wire/resp/reply_parser.h"

namespace weir::store::redis {
namespace {

using std::chrono::seconds;

const core::Rule gcra = core::compile(*Limit::gcra({{1, seconds(1)}, 10}));
const core::Rule fixed = core::compile(*Limit::fixed_window({10, seconds(60)}));
const core::Rule log_rule = core::compile(*Limit::sliding_window_log({10, seconds(60)}));

SharedAsk ask_for(std::initializer_list<std::string_view> keys, const core::Rule& rule = gcra, Cost cost = Cost{1}) {
  SharedAsk ask;
  for (const std::string_view key : keys) {
    ask.checks.push_back({.key = std::string(key), .rule = &rule, .cost = cost});
  }
  return ask;
}

// The batch, and the asks in it.
class Filled {
 public:
  [[nodiscard]] bool add(SharedAsk ask) {
    asks_.push_back(std::move(ask));
    if (batch.add(asks_.back())) return true;
    asks_.pop_back();
    return false;
  }
  [[nodiscard]] const SharedAsk& operator[](std::size_t i) const { return asks_[i]; }

  bool read(std::string_view bytes) {
    wire::resp::ReplyParser parser;
    if (parser.next(bytes).status != wire::resp::ReplyParser::Status::reply) return false;
    return batch.read(parser.reply());
  }

  ScriptBatch batch;

 private:
  std::deque<SharedAsk> asks_;
};

TEST(ScriptBatch, EqualAsksAreOneEvaluation) {
  Filled filled;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(filled.add(ask_for({"a", "b"})));
  EXPECT_EQ(filled.batch.asks(), 100U);
  EXPECT_EQ(filled.batch.evaluations(), 1U);
  EXPECT_EQ(filled.batch.keys(), 2U);
  EXPECT_EQ(filled.batch.first_key(), "a");
  EXPECT_EQ(filled.batch.members().size(), 100U);
}

TEST(ScriptBatch, AsksThatDifferAreNotFolded) {
  SharedAsk guarded = ask_for({"a"});
  guarded.checks[0].role = SharedCheck::Role::guard;
  SharedAsk hurried = ask_for({"a"});
  hurried.checks[0].max_wait = Duration{1};
  SharedAsk looking = ask_for({"a"});
  looking.operation = SharedOperation::look;
  SharedAsk owing = ask_for({"a"});
  owing.checks[0].charge_back = 3;
  for (const SharedAsk& other :
       {ask_for({"a"}, gcra, Cost{2}), ask_for({"b"}), ask_for({"a", "b"}), guarded, hurried, looking}) {
    Filled filled;
    ASSERT_TRUE(filled.add(ask_for({"a"})) && filled.add(other));
    EXPECT_EQ(filled.batch.evaluations(), 2U);
  }
  Filled filled;
  ASSERT_TRUE(filled.add(owing) && filled.add(owing) && filled.add(ask_for({"a"})));
  EXPECT_EQ(filled.batch.evaluations(), 5U) << "each charges back, then decides";
}

TEST(ScriptBatch, WhatCameBetweenOnAKeyStaysBetween) {
  Filled filled;
  ASSERT_TRUE(filled.add(ask_for({"a", "b"})));
  ASSERT_TRUE(filled.add(ask_for({"b"})));
  ASSERT_TRUE(filled.add(ask_for({"a", "b"})));
  EXPECT_EQ(filled.batch.evaluations(), 3U);
  ASSERT_TRUE(filled.add(ask_for({"c"})));
  ASSERT_TRUE(filled.add(ask_for({"a", "b"})));
  EXPECT_EQ(filled.batch.evaluations(), 4U) << "what came on another key is no hindrance";
}

TEST(ScriptBatch, AnAskWithAKeyTwiceIsDecidedAlone) {
  Filled filled;
  ASSERT_TRUE(filled.add(ask_for({"a", "a"})) && filled.add(ask_for({"a", "a"})));
  EXPECT_EQ(filled.batch.evaluations(), 2U);
}

TEST(ScriptBatch, IsFullAtItsBounds) {
  Filled hot;
  for (std::size_t i = 0; i < ScriptBatch::most_asks; ++i) ASSERT_TRUE(hot.add(ask_for({"a"})));
  EXPECT_FALSE(hot.add(ask_for({"a"})));

  Filled wide;
  for (std::size_t i = 0; i < ScriptBatch::most_keys; ++i) ASSERT_TRUE(wide.add(ask_for({std::to_string(i)})));
  EXPECT_FALSE(wide.add(ask_for({"one more"})));
  EXPECT_EQ(wide.batch.keys(), ScriptBatch::most_keys);
  wide.batch.clear();
  EXPECT_TRUE(wide.batch.empty());
  EXPECT_TRUE(wide.add(ask_for({"one more"})));
}

TEST(ScriptBatch, ALogThatIsSettledOrForgottenIsAskedNothingElse) {
  for (const SharedOperation operation : {SharedOperation::settle, SharedOperation::forget}) {
    SharedAsk alone = ask_for({"l"}, log_rule);
    alone.operation = operation;
    alone.settlement = core::Settlement{Cost{1}, Cost{0}, Instant{}};
    Filled before;
    ASSERT_TRUE(before.add(ask_for({"l"}, log_rule)));
    EXPECT_FALSE(before.add(alone));
    Filled after;
    ASSERT_TRUE(after.add(alone));
    EXPECT_FALSE(after.add(ask_for({"l"}, log_rule)));
    EXPECT_TRUE(after.add(ask_for({"another"}, log_rule)));
  }
}

TEST(ScriptBatch, AKeyHasStatesOfOneForm) {
  Filled filled;
  ASSERT_TRUE(filled.add(ask_for({"a"}, gcra)));
  EXPECT_FALSE(filled.add(ask_for({"a"}, fixed)));
  EXPECT_TRUE(filled.add(ask_for({"b"}, fixed)));
}

TEST(ScriptBatch, EachOfTheFoldedHasItsOwnNumbers) {
  Filled filled;
  for (int i = 0; i < 12; ++i) ASSERT_TRUE(filled.add(ask_for({"a"})));
  ASSERT_TRUE(filled.read("*3\r\n:1700000000000000\r\n*1\r\n$-1\r\n*1\r\n:10\r\n"));
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(filled[i].failure, StoreFailure::none);
    EXPECT_EQ(filled[i].admitted, i < 10);
    EXPECT_EQ(filled[i].now, Instant{seconds(1'700'000'000)});
    ASSERT_EQ(filled[i].answers.size(), 1U);
    EXPECT_EQ(filled[i].answers[0].decision.remaining, i < 10 ? 9 - i : 0);
    EXPECT_EQ(filled[i].answers[0].more_after, seconds(1));
  }
}

TEST(ScriptBatch, AScriptThatDecidedOtherwiseIsADisagreementOnItsKeysAlone) {
  Filled filled;
  ASSERT_TRUE(filled.add(ask_for({"a"})) && filled.add(ask_for({"a"}, gcra, Cost{2})) && filled.add(ask_for({"b"})) &&
              filled.add(ask_for({"b", "c"})) && filled.add(ask_for({"d"})));
  ASSERT_TRUE(
      filled.read("*3\r\n:1700000000000000\r\n*4\r\n$-1\r\n$-1\r\n$-1\r\n$-1\r\n*5\r\n:1\r\n:0\r\n:1\r\n:1\r\n:1\r\n"));
  EXPECT_EQ(filled[0].failure, StoreFailure::disagreement);
  EXPECT_EQ(filled[1].failure, StoreFailure::disagreement);
  EXPECT_FALSE(filled[1].admitted);
  for (const std::size_t i : {2U, 3U, 4U}) {
    EXPECT_EQ(filled[i].failure, StoreFailure::none);
    EXPECT_TRUE(filled[i].admitted);
  }
}

TEST(ScriptBatch, AReplyThatIsNotTheScriptsLeavesTheAsksAsTheyWere) {
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
    SharedAsk ask = ask_for({"a", "l"});
    ask.checks[1].rule = &log_rule;
    ask.failure = StoreFailure::lost;
    ASSERT_TRUE(filled.add(ask));
    EXPECT_FALSE(filled.read(reply)) << reply;
    EXPECT_EQ(filled[0].failure, StoreFailure::lost);
    EXPECT_TRUE(filled[0].answers.empty());
  }
}

}  // namespace
}  // namespace weir::store::redis
