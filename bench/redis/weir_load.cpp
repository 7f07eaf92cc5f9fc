#include "redis/weir_load.h"

#include "weir/limit.h"

namespace weir::bench {

core::Rule rule_of(const Numbers& numbers) {
  return core::compile(
      Limit::gcra({.rate = {.count = 1, .per = Duration{numbers.token_us}}, .burst = numbers.burst}).value());
}

WeirLoad::WeirLoad(store::redis::RedisStore& store)
    : store_(store), user_(rule_of(of_a_user)), many_(rule_of(of_many)) {}

void WeirLoad::begin(Work work, std::size_t under_way) {
  work_ = work;
  ending_ = false;
  asks_.clear();
  for (std::size_t i = 0; i < under_way; ++i) {
    store::SharedAsk& fresh = asks_.emplace_back();
    fresh.asker = this;
    fresh.checks.resize(work == Work::user_and_all ? 2 : 1);
    fresh.checks[0].rule = work == Work::hot_key ? &many_ : &user_;
    if (work == Work::user_and_all) {
      fresh.checks[1].rule = &many_;
      keys_.all(fresh.checks[1].key);
    }
    ++under_way_;
    ask(fresh);
  }
}

void WeirLoad::ask(store::SharedAsk& ask) {
  keys_.next(work_, ask.checks[0].key);
  if (store_.ask(ask)) return;
  ++failed_;
  --under_way_;
}

void WeirLoad::answered(store::SharedAsk& ask) {
  ++answered_;
  if (ask.failure != store::StoreFailure::none || !ask.admitted) ++failed_;
  if (ending_) {
    --under_way_;
  } else {
    this->ask(ask);
  }
}

}  // namespace weir::bench
