#include "redis/slice_load.h"

#include <chrono>
#include <string>

#include "redis/weir_load.h"

namespace weir::bench {
namespace {

constexpr std::uint64_t kept = 4;

}  // namespace

SliceLoad::SliceLoad(store::redis::RedisStore& store, std::uint64_t holders)
    : store_(store), holders_(holders), rule_(rule_of(of_many)) {}

void SliceLoad::begin(Work /*work*/, std::size_t under_way) {
  ending_ = false;
  messages_.clear();
  for (std::size_t i = 0; i < under_way; ++i) {
    Message& message = messages_.emplace_back();
    message.key = i % keys;
    message.callback = this;
    message.checks.resize(1);
    store::Check& check = message.checks[0];
    check.rule = &rule_;
    check.key = "weir:{slices-" + std::to_string(holders_) + ":" + std::to_string(message.key) + "}:gcra";
    check.cost = Cost{0};
    ++under_way_;
    submit(message);
  }
}

void SliceLoad::submit(Message& message) {
  ++sent_;
  message.exchange = {{.holder = 1 + sent_ / keys % holders_,
                       .number = sent_,
                       .keep = kept,
                       .want = kept,
                       .lease = std::chrono::seconds(60)},
                      {}};
  message.checks[0].extension = &message.extension;
  store_.submit(message);
}

void SliceLoad::answered(store::Group& group) {
  auto& message = static_cast<Message&>(group);
  ++answered_;
  if (group.failure != store::Failure::none || !message.exchange.answer.taken) ++failed_;
  if (ending_) {
    --under_way_;
  } else {
    submit(message);
  }
}

}  // namespace weir::bench
