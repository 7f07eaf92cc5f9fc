// What is answered about receipts, in JSON. docs/protocols.md, "Budgets: reserve, settle, report", describes it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "engine/evaluation_batch.h"
#include "frontend/receipt_texts.h"

namespace weir::frontend {

// What stands behind a verdict, before its brace: nothing, if it was not to reserve or nothing was charged.
void append_reserved(std::string& out, const engine::EvaluationBatch& batch, std::size_t i, ReceiptTexts& texts);

// The object of a report, or of what was done with a receipt.
void append_receipt_results(std::string& out, const engine::EvaluationBatch& batch, std::size_t i);

// Of a text that is no receipt of ours.
void append_receipt_error(std::string& out);
inline constexpr std::string_view not_a_receipt =
    "receipt: does not open: it is not as it was given, or its key is not among those of this node";

// Whether a store left something without an answer.
[[nodiscard]] bool is_unanswered(const engine::EvaluationBatch& batch, std::size_t i) noexcept;

}  // namespace weir::frontend
