// POST /v1/check: one query as a JSON object, or several in an array.
//
//   {"method": "POST", "path": "/api/v1/search", "ip": "203.0.113.7", "user": "alice", "api_key": "k",
//    "tier": "pro", "headers": {"X-Login-Name": "alice"}, "cost": 5, "max_wait": 0.5, "peek": true}
//
// All fields may be absent; others are refused. `max_wait` is in seconds. One per loop.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "door/question_arena.h"
#include "engine/query.h"
#include "weir/result.h"

namespace weir::door {

class CheckReader {
 public:
  static constexpr std::size_t most_queries = 1'000;  // in one array
  static constexpr std::size_t most_headers = 100;    // of one query

  CheckReader();
  ~CheckReader();
  CheckReader(const CheckReader&) = delete;
  CheckReader& operator=(const CheckReader&) = delete;

  // Whether it was an array. Appends to `queries`; on an error it is as before. What the queries view is in `arena`.
  [[nodiscard]] Result<bool> read(std::string_view body, std::vector<engine::Query>& queries, QuestionArena& arena);

 private:
  class Parsing;
  std::unique_ptr<Parsing> parsing_;
};

}  // namespace weir::door
