// POST /v1/check: one query as a JSON object, or several in an array.
//
//   {"method": "POST", "path": "/api/v1/search", "ip": "203.0.113.7", "user": "alice", "api_key": "k",
//    "tier": "pro", "headers": {"X-Login-Name": "alice"}, "cost": 5, "max_wait": 0.5, "peek": true}
//
// All fields may be absent; others are refused. `max_wait` is in seconds. The answer to each is
//
//   {"admitted":false,"reason":"exceeded","limit":"api-by-user","quota":20,"remaining":0,"retry_after":0.6,
//    "reset_after":12,"delay":0,"route":"/api/**","tier":"free"}
//
// in seconds, exact to the microsecond. `limit` is null where none has a part in it; `retry_after` is null where
// waiting does not help.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/verdict.h"
#include "frontend/batch_memory.h"
#include "match/query.h"
#include "policy/ruleset.h"
#include "weir/result.h"

namespace weir::frontend {

// One per loop.
class CheckReader {
 public:
  static constexpr std::size_t most_queries = 1'000;  // in one array
  static constexpr std::size_t most_headers = 100;    // of one query

  CheckReader();
  ~CheckReader();
  CheckReader(const CheckReader&) = delete;
  CheckReader& operator=(const CheckReader&) = delete;

  // Appends to `queries`, which is empty. Whether it was an array. What the queries view is in `memory`.
  [[nodiscard]] Result<bool> read(std::string_view body, std::vector<match::Query>& queries, BatchMemory& memory);

 private:
  class Parsing;
  std::unique_ptr<Parsing> parsing_;
};

void append_verdict(std::string& out, const policy::Ruleset& ruleset, const engine::Verdict& verdict);

}  // namespace weir::frontend
