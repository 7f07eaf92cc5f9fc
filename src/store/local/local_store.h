// A store in this process's own memory. It answers before submit() returns: groups in order, each before the next
// one is decided. A group that a callback submits is decided first, as if the requests had arrived in sequence.
#pragma once

#include <cstddef>
#include <vector>

#include "store/store.h"
#include "table/together.h"

namespace weir::store {

// Decides groups on the tables of their states. Reuses memory between groups; used by one thread at a time.
class TableDecider {
 public:
  // Decides at the group's time. Checks that a fallback has decided (Path::open, Path::closed) stay unchanged; a closed
  // check denies the group.
  void decide(Group& group);

 private:
  void decide_together(Group& group);
  void reserve_together(Group& group, std::size_t charged);

  std::vector<table::Check> checks_;  // never shrinks
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
