// WEIR.RESERVE and WEIR.REPORT on named limits; WEIR.SETTLE, WEIR.RELEASE and WEIR.EXTEND by the text of a receipt.
// docs/protocols.md, "The Redis protocol", describes their arguments and replies.
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

// What such a command asks.
struct ReceiptQuestion {
  engine::ReceiptAsk ask;
  match::NamedQuery named;                      // of a reserve or a report
  std::optional<engine::ReceiptParts> receipt;  // of the others
};

// `arguments` is the whole command, as many as the command's arity asks for. What is wrong, as to be replied; empty:
// nothing.
[[nodiscard]] std::string read_receipt_command(engine::ReceiptAsk::What what,
                                               std::span<const std::string_view> arguments, ReceiptTexts& texts,
                                               ReceiptQuestion& question);

// The two elements behind the verdict of a reserve.
void write_receipt(const engine::EvaluationBatch& batch, std::size_t number, bool is_map, ReceiptTexts& texts,
                   wire::resp::ReplyWriter& reply);
// The pairs.
void write_receipt_results(const engine::EvaluationBatch& batch, std::size_t number, wire::resp::ReplyWriter& reply);

}  // namespace weir::frontend
