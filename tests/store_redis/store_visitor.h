// Submits groups to a RedisStore on its own loop, and records the answers. Used from the test's thread.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/rule.h"
#include "net/loop.h"
#include "store/redis/redis_store.h"
#include "store/store_counts.h"
#include "tests/net/client.h"
#include "tests/store/memory_store.h"
#include "weir/limit.h"

namespace weir::store::redis {

using net::eventually;

inline const std::string alice = "weir:{api:alice}:gcra";

// Refills so slowly that nothing refills during a test.
inline core::Rule slow_rule(std::uint64_t burst) {
  return core::compile(Limit::gcra({.rate = {.count = 1, .per = std::chrono::minutes(5)}, .burst = burst}).value());
}

inline RedisOptions options_for(net::Endpoint server) {
  RedisOptions options;
  options.servers = {std::move(server)};
  options.breaker.min_wait = std::chrono::milliseconds(20);
  options.breaker.max_wait = std::chrono::milliseconds(100);
  return options;
}

// With a long timeout, for tests that are not about time.
inline RedisOptions patient_options_for(net::Endpoint server) {
  RedisOptions options = options_for(std::move(server));
  options.timeout = std::chrono::seconds(10);
  return options;
}

class StoreVisitor final : private Callback {
 public:
  // One group and its answer.
  struct Question : Group {
    bool turned_away = false;  // answered at once
    bool answered = false;
    std::chrono::steady_clock::duration took{};
    std::chrono::steady_clock::time_point asked_at;
  };

  explicit StoreVisitor(RedisOptions options) {
    auto made = net::Loops::make(1, std::chrono::milliseconds(5));
    EXPECT_TRUE(made.has_value());
    loops_ = std::move(*made);
    options.log = [this](Severity /*severity*/, const std::string& line) {
      const std::scoped_lock lock(mutex_);
      log_.push_back(line);
    };
    EXPECT_TRUE(loops_->start().has_value());
    on_loop([&] { store_ = std::make_unique<RedisStore>((*loops_)[0], std::move(options), counts_); });
  }
  ~StoreVisitor() { destroy(); }
  StoreVisitor(const StoreVisitor&) = delete;
  StoreVisitor& operator=(const StoreVisitor&) = delete;

  void destroy() {
    on_loop([&] { store_.reset(); });
  }

  // Used on the loop.
  [[nodiscard]] RedisStore& store() { return *store_; }
  [[nodiscard]] net::Loop& loop() { return (*loops_)[0]; }

  void on_loop(const std::function<void()>& work) { (*loops_)[0].run(work); }

  [[nodiscard]] bool is_connected() {
    return eventually([&] {
      bool connected = false;
      on_loop([&] { connected = store_->connected(); });
      return connected && counts_.breaker() == BreakerState::closed;
    });
  }

  // Everything submitted in `work` is submitted in one turn of the loop.
  void in_one_turn(const std::function<void()>& work) { on_loop(work); }

  // In the current turn, or in one of its own.
  Question& submit(std::vector<store::Check> checks, store::Operation operation = store::Operation::decide) {
    Question* question = nullptr;
    on_loop([&] {
      question = &questions_.emplace_back();
      question->operation = operation;
      question->checks = std::move(checks);
      question->callback = this;
      begin(*question);
    });
    return *question;
  }
  Question& submit(const std::string& key, const core::Rule& rule, std::uint64_t cost = 1) {
    return submit({check_of(key, rule, cost)});
  }
  Question& settle(const std::string& key, const core::Rule& rule, const core::Settlement& settlement) {
    Question* question = nullptr;
    on_loop([&] {
      question = &questions_.emplace_back();
      question->operation = store::Operation::settle;
      question->checks = {check_of(key, rule)};
      question->settlement = settlement;
      question->callback = this;
      begin(*question);
    });
    return *question;
  }

  // True if all groups are answered.
  [[nodiscard]] bool all_answered() {
    return eventually([&] { return waiting_ == 0; });
  }
  // Submits, waits and returns the failure.
  Failure failure_of(const std::string& key, const core::Rule& rule) {
    const Question& question = submit(key, rule);
    EXPECT_TRUE(all_answered());
    return question.turned_away ? Failure::unavailable : question.failure;
  }
  bool admits(const std::string& key, const core::Rule& rule, std::uint64_t cost = 1) {
    const Question& question = submit(key, rule, cost);
    EXPECT_TRUE(all_answered());
    return !question.turned_away && question.failure == Failure::none && question.admitted;
  }

  [[nodiscard]] const std::deque<Question>& questions() const { return questions_; }
  [[nodiscard]] std::size_t admitted() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(questions_, [](const Question& one) { return one.answered && one.admitted; }));
  }
  [[nodiscard]] StoreCounts& counts() { return counts_; }
  [[nodiscard]] std::uint64_t errors(StoreError kind) { return counts_.of(kind).value(); }
  [[nodiscard]] std::uint64_t all_errors() const {
    std::uint64_t all = 0;
    for (const base::Counter& count : counts_.errors) all += count.value();
    return all;
  }
  [[nodiscard]] std::vector<std::string> log() const {
    const std::scoped_lock lock(mutex_);
    return log_;
  }

  std::function<void(Question&)> when_answered = [](Question&) {};  // on the loop

 private:
  void begin(Question& question) {
    question.asked_at = std::chrono::steady_clock::now();
    ++waiting_;
    Question* const outer = std::exchange(begun_, &question);
    if (store_) {
      store_->submit(question);
    } else {
      question.failure = Failure::unavailable;
      answered(question);
    }
    begun_ = outer;
  }
  void answered(Group& group) override {
    auto& question = static_cast<Question&>(group);
    EXPECT_FALSE(question.answered) << "answered twice";
    EXPECT_EQ(question.decided, question.failure == Failure::none);
    question.answered = true;
    question.took = std::chrono::steady_clock::now() - question.asked_at;
    question.turned_away = &question == begun_ && question.failure == Failure::unavailable;
    if (!question.turned_away) when_answered(question);
    --waiting_;
  }

  StoreCounts counts_;
  std::unique_ptr<net::Loops> loops_;
  std::unique_ptr<RedisStore> store_;
  Question* begun_ = nullptr;       // the group being submitted
  std::deque<Question> questions_;  // stable addresses
  std::atomic<std::size_t> waiting_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::string> log_;
};

}  // namespace weir::store::redis
