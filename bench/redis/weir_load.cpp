#include "redis/weir_load.h"

#include "weir/limit.h"

namespace weir::bench {

Limit limit_of(const Numbers& numbers) {
  return Limit::gcra({.rate = {.count = 1, .per = Duration{numbers.token_us}}, .burst = numbers.burst}).value();
}

core::Rule rule_of(const Numbers& numbers) {
  return core::compile(limit_of(numbers));
}

WeirLoad::WeirLoad(store::redis::RedisStore& store)
    : store_(store), user_(rule_of(of_a_user)), many_(rule_of(of_many)) {}

void WeirLoad::begin(Work work, std::size_t under_way) {
  work_ = work;
  ending_ = false;
  asks_.clear();
  for (std::size_t i = 0; i < under_way; ++i) {
    store::Group& fresh = asks_.emplace_back();
    fresh.callback = this;
    fresh.checks.resize(work == Work::user_and_all ? 2 : 1);
    fresh.checks[0].rule = work == Work::hot_key ? &many_ : &user_;
    if (work == Work::user_and_all) {
      fresh.checks[1].rule = &many_;
      keys_.all(fresh.checks[1].key);
    }
    ++under_way_;
    submit(fresh);
  }
}

void WeirLoad::submit(store::Group& group) {
  keys_.next(work_, group.checks[0].key);
  store_.submit(group);
}

void WeirLoad::answered(store::Group& group) {
  ++answered_;
  if (group.failure != store::Failure::none || !group.admitted) ++failed_;
  if (ending_) {
    --under_way_;
  } else {
    submit(group);
  }
}

}  // namespace weir::bench
