// Serves POST /v1/consumer: the counters of one consumer at all limits that can apply to it, or at one limit. Charges
// nothing.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/evaluation_batch.h"
#include "frontend/admin/counter_request.h"
#include "frontend/admin/request_body.h"
#include "policy/ruleset.h"
#include "weir/result.h"
#include "weir/time.h"

namespace weir::frontend {

class ConsumerLookup final : public CounterRequest {
 public:
  static constexpr std::size_t max_limits = 1'000;

  // `name_of` returns the name that the log uses for a consumer's key.
  using NameOf = std::function<std::string(std::string_view key)>;
  ConsumerLookup(const policy::Ruleset& ruleset, ConsumerBody body, Instant now, NameOf name_of);

  [[nodiscard]] std::optional<Error> error(const engine::EvaluationBatch& batch) const override;
  void write(const engine::EvaluationBatch& batch, text::JsonWriter& json) const override;
  [[nodiscard]] unsigned status_of_error(const engine::EvaluationBatch& batch) const override;

 private:
  void add(engine::EvaluationBatch& batch) override;
  [[nodiscard]] std::optional<Instant> since(const engine::EvaluationBatch& batch, std::size_t index) const;
  void write_counter(const engine::EvaluationBatch& batch, std::size_t index, text::JsonWriter& json) const;

  const ConsumerBody body_;
  const Instant now_;
  const NameOf name_of_;
  struct Other {
    std::string limit;
    std::string why;
  };
  std::vector<Other> others_;                              // limits that cannot apply to the consumer
  std::vector<std::string> limits_;                        // limits to inspect
  std::vector<std::unique_ptr<CounterRequest>> counters_;  // one per element of limits_
};

}  // namespace weir::frontend
