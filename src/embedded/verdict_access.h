// Converts the engine's verdicts to those of the public API.
#pragma once

#include <cstddef>
#include <memory>

#include "engine/evaluation_batch.h"
#include "match/matcher.h"
#include "weir/verdict.h"

namespace weir::embedded {

struct VerdictAccess {
  using Names = std::shared_ptr<const match::Matcher>;

  // `i` is the index of the request in a finished batch; `names` is the matcher of the batch.
  static void fill(Verdict& verdict, const engine::EvaluationBatch& batch, std::size_t i, const Names& names);
  static void fill_descriptors(Verdict& verdict, const engine::EvaluationBatch& batch, std::size_t i,
                               const Names& names);

  // A denial because memory is exhausted.
  [[nodiscard]] static Verdict no_memory() noexcept;
};

}  // namespace weir::embedded
