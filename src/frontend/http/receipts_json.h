// Writes the results of receipts as JSON. docs/reference-http.md describes the fields.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "engine/evaluation_batch.h"
#include "frontend/receipt_texts.h"

namespace weir::frontend {

// Continues append_verdict() for a reservation. Appends nothing for other verdicts, or if nothing was charged.
void append_reserved(std::string& out, const engine::EvaluationBatch& batch, std::size_t i, ReceiptTexts& texts);

// Appends the result of a report, settlement, release or extension.
void append_receipt_results(std::string& out, const engine::EvaluationBatch& batch, std::size_t i);

// Appends the result for a receipt that cannot be opened.
void append_receipt_error(std::string& out);
inline constexpr std::string_view not_a_receipt =
    "receipt: invalid: it was altered, or this node does not have its key";

// True if a store did not answer for one of the limits.
[[nodiscard]] bool is_unanswered(const engine::EvaluationBatch& batch, std::size_t i) noexcept;

}  // namespace weir::frontend
