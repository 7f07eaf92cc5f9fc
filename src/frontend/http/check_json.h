// Reads the JSON bodies of POST /v1/check, report, settle, release and extend: an object, or an array of objects.
// Writes verdicts; receipts_json.h writes the results of receipts. docs/reference-http.md and docs/openapi.yaml list
// the fields. Unknown fields are errors. Times are in seconds, exact to the microsecond.
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

// One object of a body.
struct CheckItem {
  Query query;
  bool reserves = false;
  std::string_view id{};  // id of a reservation or a report; empty: none
  Duration lease{};       // lease of a reservation or an extension; zero: the limit's default
  std::string_view receipt{};
  std::optional<Cost> actual{};
};

// Not thread-safe: each loop has its own.
class CheckReader {
 public:
  static constexpr std::size_t max_queries = 1'000;  // maximum number in one array
  static constexpr std::size_t max_headers = 100;    // maximum number in one query
  static constexpr std::size_t max_id_length = 128;

  CheckReader();
  ~CheckReader();
  CheckReader(const CheckReader&) = delete;
  CheckReader& operator=(const CheckReader&) = delete;

  // Appends to `items`, which must be empty. Returns true if the body is an array. The items refer to texts in
  // `memory`.
  [[nodiscard]] Result<bool> read(CheckKind kind, std::string_view body, std::vector<CheckItem>& items,
                                  BatchMemory& memory);

 private:
  class Parsing;
  std::unique_ptr<Parsing> parsing_;
};

// Reads the text after the `?`. Returns true for `denied=200` of a check: denied verdicts get status 200. Any other
// parameter is an error.
[[nodiscard]] Result<bool> read_parameters(CheckKind kind, std::string_view parameters);

// Appends a verdict as a JSON object without its closing brace.
void append_verdict(std::string& out, const policy::Ruleset& ruleset, const engine::Verdict& verdict);

// Continues append_verdict() for `denied=200`: appends the original status and, for a denial, the problem.
void append_status(std::string& out, const policy::Ruleset& ruleset, const engine::Verdict& verdict);

// Appends seconds as a decimal number: 12, 0.6, 0.000001.
void append_seconds(std::string& out, Duration duration);

}  // namespace weir::frontend
