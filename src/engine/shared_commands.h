// Questions to a shared store that no policy has a part in but for their keys: CL.THROTTLE, and to forget a consumer.
#pragma once

#include <optional>
#include <string_view>

#include "core/rule.h"
#include "engine/named.h"
#include "engine/shared_case.h"
#include "engine/shared_judgement.h"
#include "weir/cost.h"
#include "weir/decision.h"
#include "weir/result.h"

namespace weir::engine {

class SharedThrottle final : public SharedCase {
 public:
  SharedThrottle(store::SharedStore& store, Owner& owner, SharedRoom& room) noexcept
      : SharedCase(store, owner), room_(room) {}

  void begin(const Plan& plan, std::string_view key, const core::Gcra::Limit& limit, Cost quantity);

  // When it has ended; none if the store is away.
  [[nodiscard]] const std::optional<Decision>& decision() const noexcept { return decision_; }
  [[nodiscard]] Instant at() const noexcept { return at_; }

 private:
  bool step() override;

  SharedRoom& room_;
  core::Rule rule_;
  std::optional<Decision> decision_;
  Instant at_{};
};

class SharedReset final : public SharedCase {
 public:
  using SharedCase::SharedCase;

  // Whatever is counted for the consumer. `consumer` is as the store calls it.
  void begin(const Plan& plan, const PlannedLimit& limit, std::string_view consumer);

  [[nodiscard]] const Result<void>& result() const noexcept { return result_; }

 private:
  bool step() override;

  Result<void> result_;
};

}  // namespace weir::engine
