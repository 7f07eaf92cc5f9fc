#include "frontend/http/receipts_json.h"

#include <algorithm>
#include <optional>

#include "answer/answer.h"
#include "frontend/http/check_json.h"
#include "text/decimal.h"
#include "text/json.h"

namespace weir::frontend {
namespace {

using core::ReceiptResult;
using engine::EvaluationBatch;
using engine::ReceiptOutcome;
using engine::ReceiptRequest;

bool is_open(const ReceiptOutcome& outcome) noexcept {
  return outcome.result == ReceiptResult::done || outcome.result == ReceiptResult::repeated;
}

// Writes the time until the first of the receipts expires.
void append_ends(std::string& out, const EvaluationBatch& batch, std::size_t i) {
  std::optional<Instant> first;
  for (const ReceiptOutcome& outcome : batch.receipt_outcomes(i)) {
    if (is_open(outcome)) first = std::min(first.value_or(outcome.ends), outcome.ends);
  }
  if (!first) return;
  out += R"(,"receipt_ends":)";
  append_seconds(out, std::max(*first - batch.verdict(i).at, Duration::zero()));
}

void append_outcome(std::string& out, const policy::Ruleset& ruleset, const ReceiptOutcome& outcome) {
  out += R"({"limit":)";
  if (outcome.limit) {
    text::append_json_text(out, ruleset.limits[*outcome.limit].name);
  } else {
    out += "null";
  }
  out += R"(,"result":")";
  out += answer::name_of(outcome.result);
  out += '"';
  const bool has_numbers = outcome.decision.limit > 0;  // false if the limit no longer has numbers
  if (has_numbers && outcome.result != ReceiptResult::none && outcome.result != ReceiptResult::unknown) {
    out += R"(,"quota":)";
    text::append_number(out, outcome.decision.limit);
    out += R"(,"remaining":)";
    text::append_number(out, outcome.decision.remaining);
    out += R"(,"reset_after":)";
    append_seconds(out, outcome.decision.reset_after);
  }
  if (outcome.lost > 0) {
    out += R"(,"lost":)";
    text::append_number(out, outcome.lost);
  }
  out += '}';
}

}  // namespace

void append_reserved(std::string& out, const EvaluationBatch& batch, std::size_t i, ReceiptTexts& texts) {
  if (const engine::ReceiptParts* const receipt = batch.receipt(i)) {
    out += R"(,"receipt":")";
    texts.append(out, *receipt);
    out += '"';
    append_ends(out, batch, i);
  }
  const policy::Ruleset& ruleset = batch.bindings().ruleset();
  bool is_first = true;
  for (const ReceiptOutcome& outcome : batch.receipt_outcomes(i)) {
    const bool is_charged = outcome.decision.admitted;  // false for a shadow limit that denies
    if (!is_charged || is_open(outcome)) continue;
    out += is_first ? R"(,"not_kept":[)" : ",";
    is_first = false;
    text::append_json_text(out, ruleset.limits[*outcome.limit].name);
  }
  if (!is_first) out += ']';
}

void append_receipt_results(std::string& out, const EvaluationBatch& batch, std::size_t i) {
  const policy::Ruleset& ruleset = batch.bindings().ruleset();
  out += R"({"limits":[)";
  bool is_first = true;
  for (const ReceiptOutcome& outcome : batch.receipt_outcomes(i)) {
    if (!is_first) out += ',';
    is_first = false;
    append_outcome(out, ruleset, outcome);
  }
  out += ']';
  if (batch.receipt_request(i).action == ReceiptRequest::Action::extend) append_ends(out, batch, i);
  out += '}';
}

void append_receipt_error(std::string& out) {
  out += R"({"error":)";
  text::append_json_text(out, not_a_receipt);
  out += '}';
}

bool is_unanswered(const EvaluationBatch& batch, std::size_t i) noexcept {
  const auto outcomes = batch.receipt_outcomes(i);
  return std::ranges::find(outcomes, ReceiptResult::none, &ReceiptOutcome::result) != outcomes.end();
}

}  // namespace weir::frontend
