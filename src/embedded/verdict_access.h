// From the engine's verdicts to those of the public API.
#pragma once

#include <cstddef>
#include <memory>

#include "engine/evaluation_batch.h"
#include "match/matcher.h"
#include "weir/verdict.h"

namespace weir::embedded {

struct VerdictAccess {
  using Names = std::shared_ptr<const match::Matcher>;

  // Fill `verdict` from the request with this number in a batch that is done. `names` is the matcher of the batch.
  static void fill(Verdict& verdict, const engine::EvaluationBatch& batch, std::size_t i, const Names& names);
  static void fill_descriptors(Verdict& verdict, const engine::EvaluationBatch& batch, std::size_t i,
                               const Names& names);

  // Denied for want of memory.
  [[nodiscard]] static Verdict no_memory() noexcept;
};

}  // namespace weir::embedded
