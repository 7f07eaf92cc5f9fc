// WEIR.RESERVE and WEIR.REPORT on named limits, and WEIR.SETTLE, WEIR.RELEASE and WEIR.EXTEND on a receipt's text.
// docs/reference-resp.md describes their arguments and replies.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/evaluation_batch.h"
#include "engine/receipt.h"
#include "frontend/receipt_texts.h"
#include "match/named.h"
#include "wire/resp/writer.h"

namespace weir::frontend {

struct ReceiptCommand {
  engine::ReceiptRequest request;
  match::NamedQuery named;                      // the query of a reservation or a report
  std::optional<engine::ReceiptParts> receipt;  // the receipt of the other commands
};

// Reads a command. `arguments` is the whole command and matches its arity. Returns the error reply; empty: success.
[[nodiscard]] std::string read_receipt_command(engine::ReceiptRequest::Action action,
                                               std::span<const std::string_view> arguments, ReceiptTexts& texts,
                                               ReceiptCommand& command);

// Writes the two elements after the verdict of a reservation.
void write_receipt(const engine::EvaluationBatch& batch, std::size_t number, bool is_map, ReceiptTexts& texts,
                   wire::resp::ReplyWriter& reply);
// Writes a pair of limit and result for each limit.
void write_receipt_results(const engine::EvaluationBatch& batch, std::size_t number, wire::resp::ReplyWriter& reply);

}  // namespace weir::frontend
