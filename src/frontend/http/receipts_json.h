// What is answered about receipts, in JSON.
//
// A reserve adds to its verdict
//
//   "receipt":"...","receipt_ends":600,"not_kept":["name", ...]
//
// as far as there are any: seconds until the receipt ends, the first of its limits counted, and the limits that were
// charged without one. A report, and what is done with a receipt, is answered by a result for each limit:
//
//   {"limits":[{"limit":"tokens","result":"done","quota":1000,"remaining":993,"reset_after":12,"lost":3}, ...]}
//
// `result` is `done`, `ended` (nothing was open: settled, released, over or lost; nothing was changed), `unknown` (the
// policy has that limit no more: `limit` is null), of a report `repeated` or `id_not_kept` (charged, and charged again
// if it is repeated), and `unanswered` where the store did not say. `lost` is what even a debt of one capacity had no
// room for. An extension adds "receipt_ends".
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
