// Calls of one read that are judged together, and the exchanges that they are answered to.
#pragma once

#include <cstddef>
#include <vector>

#include "door/descriptor_ruling.h"
#include "door/desk.h"
#include "door/inquiry.h"
#include "door/question_arena.h"
#include "door/rls/call.h"
#include "door/rls/query_entries.h"

namespace weir::door {

struct CallBatch {
  // As much as the arena's `memory` holds allocates nothing.
  CallBatch(Desk& desk, std::size_t memory) : arena(memory), inquiry(desk) {}

  // A call whose descriptors are queries of the batch.
  struct Queries {
    Exchange* exchange;
    std::size_t first;
    std::size_t count;
  };
  // A call of another domain, where verdicts come later.
  struct Descriptors {
    Exchange* exchange;
    DescriptorQuestion question;
  };

  // Calls work(exchange) for each call.
  template <class Work>
  void for_each_exchange(const Work& work) const {
    for (const Queries& call : by_query) work(*call.exchange);
    for (const Descriptors& call : by_descriptors) work(*call.exchange);
  }

  void clear() noexcept {
    queries.clear();
    by_query.clear();
    by_descriptors.clear();
    arena.clear();
    inquiry.close();
  }

  QueryBatch queries;
  std::vector<Queries> by_query;
  std::vector<Descriptors> by_descriptors;  // at a hearing they come behind the queries
  QuestionArena arena;
  Inquiry inquiry;
};

}  // namespace weir::door
