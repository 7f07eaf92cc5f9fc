// The JSON below /v1: a query or a receipt, as an object or several in an array, and the verdicts that answer queries.
// docs/protocols.md, "Asking in JSON", and docs/openapi.yaml describe the fields. Unknown fields are errors. Times are
// in seconds, exact to the microsecond. receipts_json.h writes what is answered about receipts.
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
  static constexpr std::size_t max_queries = 1'000;  // in one array
  static constexpr std::size_t max_headers = 100;    // of one query
  static constexpr std::size_t max_id_length = 128;

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
