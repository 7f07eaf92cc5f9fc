// The group that a store around another submits to it in the place of one that it was given: a copy of all checks, or
// of some. The caller's group stays as it is, callback included, until it is told the answer.
//
// Keeps its memory between uses: a copy allocates nothing once the largest group has been seen.
#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

#include "store/store.h"

namespace weir::store {

struct ForwardedGroup {
  Group group;                             // what the inner store is asked
  Group* whole = nullptr;                  // the caller's
  std::vector<std::size_t> places;         // of the checks of `group`, in the whole
  std::vector<CheckExtension> extensions;  // what this store adds to the checks of `group`, where it adds something

  void take_all(Group& its_whole, Callback& callback) {
    places.resize(its_whole.checks.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    take(its_whole, callback);
  }

  // The checks at `places`.
  void take(Group& its_whole, Callback& callback) {
    whole = &its_whole;
    group.operation = whole->operation;
    group.settlement = whole->settlement;
    group.fallback = whole->fallback;
    group.deadline = whole->deadline;
    group.failure = whole->failure;
    group.now = whole->now;
    group.callback = &callback;
    group.checks.resize(places.size());
    for (std::size_t i = 0; i < places.size(); ++i) group.checks[i] = whole->checks[places[i]];
  }

  // Adds to the i-th check. What an outer store added stays.
  CheckExtension& extend(std::size_t i) {
    extensions.resize(group.checks.size());
    extensions[i] = group.checks[i].extension == nullptr ? CheckExtension{} : *group.checks[i].extension;
    group.checks[i].extension = &extensions[i];
    return extensions[i];
  }

  // The answers of the checks, to the whole. Receipts and holdings are the caller's already.
  void tell_decisions() const {
    for (std::size_t i = 0; i < places.size(); ++i) {
      Check& told = whole->checks[places[i]];
      told.path = group.checks[i].path;
      told.decision = group.checks[i].decision;
    }
  }
  void tell() const {
    tell_decisions();
    whole->deadline = group.deadline;
    whole->failure = group.failure;
    whole->decided = group.decided;
    whole->admitted = group.admitted;
    whole->now = group.now;
  }
};

}  // namespace weir::store
