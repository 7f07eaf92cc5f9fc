#include "frontend/answer.h"

namespace weir::frontend {

std::string_view name_of(core::ReceiptResult result) noexcept {
  switch (result) {
    case core::ReceiptResult::done:
      return "done";
    case core::ReceiptResult::repeated:
      return "repeated";
    case core::ReceiptResult::not_kept:
      return "id_not_kept";
    case core::ReceiptResult::ended:
      return "ended";
    case core::ReceiptResult::unknown:
      return "unknown";
    case core::ReceiptResult::none:
      break;
  }
  return "unanswered";
}

}  // namespace weir::frontend
