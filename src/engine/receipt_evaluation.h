// Settles, releases or extends a receipt.
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

  void begin(const Bindings& bindings, const ReceiptParts& receipt, const ReceiptRequest& ask, Instant now);

 private:
  // States next to which the receipt of a part may be stored.
  struct Target {
    std::size_t part;
    const store::States* states;
    core::ReceiptUse use;
  };

  void read();
  void find_states(std::size_t part, const TierStates& tiers, std::uint32_t tier);
  void add_check(store::Group& group, Target& target, const ReceiptParts& receipt, const ReceiptRequest& ask);

  std::vector<Target> targets_;  // targets of the limits, then of their candidates, whose answers are not reported
  std::size_t live_count_ = 0;
};

}  // namespace weir::engine
