// A question that is judged on a shared store, on its way through it. It takes a few steps; each step asks the store
// what it needs, and goes on when all of it is answered. What the store refuses at once (its breaker is open) is
// answered at once.
#pragma once

#include <cstddef>
#include <deque>
#include <string_view>

#include "engine/plan.h"
#include "store/shared/shared_store.h"

namespace weir::engine {

class SharedCase : public store::SharedAsker {
 public:
  // Told once for each case that ends.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void ended(SharedCase& ended) = 0;
    // All that it asked is answered: calls advance(), under the hold that keeps states where they are.
    virtual void answered(SharedCase& answered) = 0;
  };

  SharedCase(store::SharedStore& store, Owner& owner) noexcept : store_(store), owner_(owner) {}
  SharedCase(const SharedCase&) = delete;
  SharedCase& operator=(const SharedCase&) = delete;
  virtual ~SharedCase() = default;

  void answered(store::SharedAsk& ask) final;
  // By its owner, when it is told.
  void advance();

 protected:
  // What the step needs next; empty, but for the memory it has.
  [[nodiscard]] store::SharedAsk& new_ask(store::SharedOperation operation);
  // Adds a check on one consumer's state.
  store::SharedCheck& add_check(store::SharedAsk& ask, const Plan& plan, const TableRule& rule,
                                std::string_view consumer);

  // Sends what was prepared, and goes on by steps until one has to wait, or all is over.
  void go_on();
  // Of the step that was prepared last: reads its answers, and prepares the next. False if none follows.
  [[nodiscard]] virtual bool step() = 0;

  [[nodiscard]] store::SharedAsk& ask(std::size_t i) noexcept { return asks_[i]; }
  [[nodiscard]] std::size_t asks() const noexcept { return used_; }
  void clear_asks() noexcept { used_ = 0; }
  // Before anything is asked.
  void start();

 private:
  // False if something is out.
  [[nodiscard]] bool send();

  store::SharedStore& store_;
  Owner& owner_;
  std::deque<store::SharedAsk> asks_;  // only grows; those in use come first
  std::size_t used_ = 0;
  std::size_t out_ = 0;
  store::AskDeadline deadline_{};  // of all steps together
};

}  // namespace weir::engine
