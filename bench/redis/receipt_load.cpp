#include "redis/receipt_load.h"

#include <chrono>
#include <string>

#include "redis/weir_load.h"
#include "weir/limit.h"

namespace weir::bench {
namespace {

constexpr WindowNumbers numbers{65'536, std::chrono::hours(1)};

core::Rule rule_of(ReceiptLoad::On on) {
  switch (on) {
    case ReceiptLoad::On::window:
      return core::compile(*Limit::fixed_window(numbers));
    case ReceiptLoad::On::counter:
      return core::compile(*Limit::sliding_window_counter(numbers));
    case ReceiptLoad::On::log:
      return core::compile(*Limit::sliding_window_log(numbers));
    case ReceiptLoad::On::concurrency:
      return core::compile(*Limit::concurrency({2'000, numbers.window}));
    case ReceiptLoad::On::bucket:
      break;
  }
  return rule_of(of_a_user);  // its charges last, so that refunds move others
}

}  // namespace

ReceiptLoad::ReceiptLoad(store::redis::RedisStore& store, On on, std::uint64_t open)
    : store_(store), on_(on), open_(open), rule_(rule_of(on)) {}

void ReceiptLoad::begin(Work /*work*/, std::size_t under_way) {
  ending_ = false;
  questions_.clear();
  for (std::size_t i = 0; i < under_way; ++i) {
    Question& question = questions_.emplace_back();
    question.callback = this;
    question.checks.resize(1);
    store::Check& check = question.checks[0];
    question.key = i % keys;
    check.rule = &rule_;
    check.key = "weir:{receipts-" + std::to_string(open_) + ":" + std::to_string(question.key) +
                "}:" + std::to_string(static_cast<int>(on_));
    check.receipt = &question.use;
    ++under_way_;
    submit(question);
  }
}

void ReceiptLoad::submit(Question& question) {
  std::deque<std::uint64_t>& open = ids_[question.key];
  const bool settles = open.size() > open_;
  question.operation = settles ? store::Operation::settle : store::Operation::decide;
  if (!settles) open.push_back(++last_id_);
  question.use.id = {1, settles ? open.front() : open.back()};
  if (settles) open.pop_front();
  question.use.lasts = std::chrono::hours(1);
  question.use.actual = Cost{0};
  store_.submit(question);
}

void ReceiptLoad::answered(store::Group& group) {
  auto& question = static_cast<Question&>(group);
  ++answered_;
  if (group.failure != store::Failure::none || question.use.result != core::ReceiptResult::done) ++failed_;
  if (ending_) {
    --under_way_;
  } else {
    submit(question);
  }
}

}  // namespace weir::bench
