// What holds for a request, for a person and for a program.
#pragma once

#include <string>

#include "app/terminal.h"
#include "engine/explain.h"
#include "engine/query.h"
#include "policy/ruleset.h"

namespace weir::app {

struct ExplainedQuery {
  const std::string& file;
  const policy::Ruleset& ruleset;
  const engine::Query& query;
  const engine::Explanation& explanation;
};

[[nodiscard]] std::string explanation_text(const ExplainedQuery& explained, const Paint& paint);

// {"request": {...}, "caller": {...}, "limits": [{"name", "covers", ...}...]}
[[nodiscard]] std::string explanation_json(const ExplainedQuery& explained);

}  // namespace weir::app
