// The states in this process's own memory. Answers before submit() returns: the groups of a batch in their order, each
// callback before the next group is decided. So what a callback submits is decided first, as if the requests had come
// one after the other.
#pragma once

#include <cstddef>
#include <vector>

#include "store/store.h"
#include "table/together.h"

namespace weir::store {

// Decides groups on the tables of their states. Keeps memory between groups; used by one thread at a time.
class TableDecider {
 public:
  // At the group's time. Checks that are not for a table to decide (Path::open, Path::closed) stay as they are; a
  // closed one denies the group.
  void decide(Group& group);

 private:
  void decide_together(Group& group);
  void reserve_together(Group& group, std::size_t charged);

  std::vector<table::Check> checks_;  // only grow
  std::vector<core::ReceiptUse*> receipts_;
};

class LocalStore final : public Store {
 public:
  using Store::submit;
  void submit(Batch batch) override;

 private:
  TableDecider decider_;
};

}  // namespace weir::store
