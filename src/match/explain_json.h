// An explanation for programs: what `weir explain --format json` prints, and POST /v1/explain answers.
#pragma once

#include <cstdint>
#include <string>

#include "match/explain.h"
#include "match/query.h"
#include "policy/ruleset.h"
#include "text/json_writer.h"

namespace weir::match {

struct ExplainedRequest {
  const policy::Ruleset& ruleset;
  const Query& query;
  const Explanation& explanation;
  std::uint64_t nodes;  // that share the store
};

// {"request": {...}, "caller": {...}, "limits": [{"name", "covers", ...}...]}
[[nodiscard]] std::string explanation_json(const ExplainedRequest& explained, text::JsonWriter::Layout layout);

}  // namespace weir::match
