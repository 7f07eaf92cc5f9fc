// Resets a consumer's states of a limit.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/bindings.h"
#include "engine/evaluation.h"
#include "store/store.h"

namespace weir::engine {

class ResetEvaluation final : public Evaluation {
 public:
  explicit ResetEvaluation(EvaluationBatch& batch) noexcept : Evaluation(batch) {}

  // `key` is the key of the consumer, `text` its name on a shared store.
  void begin(const Bindings& bindings, const BoundLimit& limit, std::string_view key, std::string_view text,
             Instant now);

  enum class Outcome : std::uint8_t { done, shared, unanswered };
  [[nodiscard]] Outcome outcome() const noexcept { return outcome_; }

 private:
  void forget(const std::optional<store::States>& states, std::string_view key, std::string_view text);
  void read();

  Outcome outcome_ = Outcome::done;
};

}  // namespace weir::engine
