// The group that a wrapping store submits to its inner store in place of the caller's group: a copy of all checks, or
// of some. The caller's group stays unchanged, callback included, until the answer is written back.
//
// Reuses its memory: a copy allocates nothing once the largest group has been seen.
#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

#include "store/store.h"

namespace weir::store {

struct ForwardedGroup {
  Group group;                             // submitted to the inner store
  Group* whole = nullptr;                  // the caller's group
  std::vector<std::size_t> positions;      // their indexes in the caller's group
  std::vector<CheckExtension> extensions;  // this store's additions to the checks of `group`

  void take_all(Group& original, Callback& callback) {
    positions.resize(original.checks.size());
    std::iota(positions.begin(), positions.end(), std::size_t{0});
    take(original, callback);
  }

  // Copies the checks at `positions`.
  void take(Group& original, Callback& callback) {
    whole = &original;
    group.operation = whole->operation;
    group.settlement = whole->settlement;
    group.fallback = whole->fallback;
    group.deadline = whole->deadline;
    group.failure = whole->failure;
    group.now = whole->now;
    group.callback = &callback;
    group.checks.resize(positions.size());
    for (std::size_t i = 0; i < positions.size(); ++i) group.checks[i] = whole->checks[positions[i]];
  }

  // Returns the extension of the i-th check. It keeps the additions of an outer store.
  CheckExtension& extend(std::size_t i) {
    extensions.resize(group.checks.size());
    extensions[i] = group.checks[i].extension == nullptr ? CheckExtension{} : *group.checks[i].extension;
    group.checks[i].extension = &extensions[i];
    return extensions[i];
  }

  // Writes the answers back to the caller's group. Receipts and holdings already point there.
  void write_back_decisions() const {
    for (std::size_t i = 0; i < positions.size(); ++i) {
      Check& original = whole->checks[positions[i]];
      original.path = group.checks[i].path;
      original.decision = group.checks[i].decision;
    }
  }
  void write_back() const {
    write_back_decisions();
    whole->deadline = group.deadline;
    whole->failure = group.failure;
    whole->decided = group.decided;
    whole->admitted = group.admitted;
    whole->now = group.now;
  }
};

}  // namespace weir::store
