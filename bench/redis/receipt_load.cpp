#include "redis/receipt_load.h"

#include <chrono>
#include <string>

#include "redis/weir_load.h"
#include "weir/limit.h"

namespace weir::bench {

ReceiptLoad::ReceiptLoad(store::redis::RedisStore& store, On on, std::uint64_t open)
    : store_(store),
      on_(on),
      open_(open),
      rule_(on == On::bucket ? rule_of(of_many)
                             : core::compile(*Limit::sliding_window_log({65'536, std::chrono::hours(1)}))) {}

void ReceiptLoad::begin(Work /*work*/, std::size_t under_way) {
  ending_ = false;
  questions_.clear();
  for (std::size_t i = 0; i < under_way; ++i) {
    Question& question = questions_.emplace_back();
    question.operation = store::Operation::settle;  // the first request is then a reserve
    question.callback = this;
    question.checks.resize(1);
    store::Check& check = question.checks[0];
    check.rule = &rule_;
    check.key = "weir:{receipts-" + std::to_string(open_) + ":" + std::to_string(i % keys) +
                "}:" + (on_ == On::bucket ? "gcra" : "swl3600s");
    check.receipt = &question.use;
    ++under_way_;
    submit(question);
  }
}

void ReceiptLoad::submit(Question& question) {
  const bool settles = is_filled() && question.operation == store::Operation::decide;
  question.operation = settles ? store::Operation::settle : store::Operation::decide;
  if (!settles) question.use.id = {1, ++last_id_};
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
