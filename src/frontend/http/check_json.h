// What is asked at the paths below /v1, as a JSON object or several in an array.
//
// POST /v1/check: a query.
//
//   {"method": "POST", "path": "/api/v1/search", "ip": "203.0.113.7", "user": "alice", "api_key": "k",
//    "tier": "pro", "headers": {"X-Login-Name": "alice"}, "cost": 5, "max_wait": 0.5, "peek": true}
//
// With "reserve": true, and then "lease" and "id" too, it opens a receipt. /v1/report takes a query with what it cost,
// and an "id"; /v1/settle {"receipt": "...", "actual": 7}, /v1/release {"receipt": "..."}, /v1/extend
// {"receipt": "...", "lease": 60}. Other fields are refused. Times are in seconds. The answer to a query is
//
//   {"admitted":false,"reason":"exceeded","limit":"api-by-user","quota":20,"remaining":0,"retry_after":0.6,
//    "reset_after":12,"delay":0,"route":"/api/**","tier":"free"}
//
// exact to the microsecond. `limit` is null where none has a part in it; `retry_after` is null where waiting does not
// help. Asked by /v1/check?denied=200, there are "status":429 and "problem":{...} as well. What is answered about
// receipts is in receipts_json.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/verdict.h"
#include "frontend/batch_memory.h"
#include "policy/ruleset.h"
#include "weir/cost.h"
#include "weir/query.h"
#include "weir/result.h"
#include "weir/time.h"

namespace weir::frontend {

enum class CheckKind : std::uint8_t { check, report, settle, release, extend };

struct CheckAsk {
  Query query;
  bool reserves = false;
  std::string_view id{};  // of a reserve or a report; empty: none
  Duration lease{};       // of a reserve or an extension; zero: as long as the limit says
  std::string_view receipt{};
  std::optional<Cost> actual{};
};

// One per loop.
class CheckReader {
 public:
  static constexpr std::size_t most_queries = 1'000;  // in one array
  static constexpr std::size_t most_headers = 100;    // of one query
  static constexpr std::size_t longest_id = 128;

  CheckReader();
  ~CheckReader();
  CheckReader(const CheckReader&) = delete;
  CheckReader& operator=(const CheckReader&) = delete;

  // Appends to `asks`, which is empty. Whether it was an array. What they view is in `memory`.
  [[nodiscard]] Result<bool> read(CheckKind kind, std::string_view body, std::vector<CheckAsk>& asks,
                                  BatchMemory& memory);

 private:
  class Parsing;
  std::unique_ptr<Parsing> parsing_;
};

// What stands behind the `?` of the path. Whether a denied verdict is to be a 200: `denied=200`, of a check. Nothing
// else is known, and what is not known is refused like an unknown field.
[[nodiscard]] Result<bool> read_parameters(CheckKind kind, std::string_view parameters);

// Without the brace at its end.
void append_verdict(std::string& out, const policy::Ruleset& ruleset, const engine::Verdict& verdict);

// Behind it, if a denied verdict is to be a 200: the status that it would have had, and of a denial the problem.
void append_status(std::string& out, const policy::Ruleset& ruleset, const engine::Verdict& verdict);

// 12, 0.6, 0.000001
void append_seconds(std::string& out, Duration duration);

}  // namespace weir::frontend
