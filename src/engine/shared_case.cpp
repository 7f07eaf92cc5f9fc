#include "engine/shared_case.h"

namespace weir::engine {

store::SharedAsk& SharedCase::new_ask(store::SharedOperation operation) {
  if (used_ == asks_.size()) asks_.emplace_back();
  store::SharedAsk& ask = asks_[used_++];
  ask.operation = operation;
  ask.checks.clear();
  ask.settlement.reset();
  ask.asker = this;
  ask.failure = store::StoreFailure::none;
  ask.answers.clear();
  ask.admitted = false;
  ask.deadline = deadline_;
  return ask;
}

store::SharedCheck& SharedCase::add_check(store::SharedAsk& ask, const Plan& plan, const TableRule& rule,
                                          std::string_view consumer) {
  store::SharedCheck& check = ask.checks.emplace_back();
  plan.shared_keys()->write(*rule.name, consumer, check.key);
  check.rule = &rule.rule;
  return check;
}

bool SharedCase::send() {
  std::size_t sent = 0;
  out_ = used_;
  for (std::size_t i = 0; i < used_; ++i) {
    if (store_.ask(asks_[i])) {
      ++sent;
    } else {
      asks_[i].failure = store::StoreFailure::away;
      --out_;
    }
  }
  return sent == 0;
}

void SharedCase::go_on() {
  while (send()) {
    if (!step()) {
      owner_.ended(*this);
      return;
    }
  }
}

void SharedCase::start() {
  used_ = 0;
  deadline_ = store_.deadline();
}

void SharedCase::answered(store::SharedAsk& /*ask*/) {
  if (--out_ == 0) owner_.answered(*this);
}

void SharedCase::advance() {
  if (step()) {
    go_on();
  } else {
    owner_.ended(*this);
  }
}

}  // namespace weir::engine
