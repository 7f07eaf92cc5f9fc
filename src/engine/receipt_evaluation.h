// Settles, releases or extends what a reserve charged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/receipts.h"
#include "engine/bindings.h"
#include "engine/evaluation.h"
#include "engine/receipt.h"
#include "store/store.h"

namespace weir::engine {

class ReceiptEvaluation final : public Evaluation {
 public:
  explicit ReceiptEvaluation(EvaluationBatch& batch) noexcept : Evaluation(batch) {}

  void begin(const Bindings& bindings, const ReceiptParts& receipt, const ReceiptAsk& ask, Instant now);

 private:
  // States beside which a part's receipt may lie, and what is done with it there.
  struct Asked {
    std::size_t part;
    const store::States* states;
    core::ReceiptUse use;
  };

  void read();
  void find_states(std::size_t part, const TierStates& tiers, std::uint32_t tier);
  void add_check(store::Group& group, Asked& asked, const ReceiptParts& receipt, const ReceiptAsk& ask);

  std::vector<Asked> asked_;  // of the limits, then of their candidates, whose answers nobody is told
  std::size_t of_limits_ = 0;
};

}  // namespace weir::engine
