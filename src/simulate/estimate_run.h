// A policy on the requests of a log as callers meet it that do not know their costs beforehand: each reserves an
// estimate, and settles when it ends. Beside it, the verdicts by the costs that the log has.
//
// Time is virtual, and events have an order: by time; of those at one instant ends come before requests, and ends in
// the order of their requests. A request ends its duration after it came; where the log has none, at once, and what it
// holds (concurrency) lasts as long as the limit's lease. What was denied has no end.
//
// To check with a cost of nothing and to report at the end is the same as to reserve nothing and to settle: limits that
// write their cost are charged it by the check, once. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/arithmetic.h"
#include "engine/engine.h"
#include "engine/evaluation_batch.h"
#include "engine/receipt.h"
#include "engine/verdict.h"
#include "policy/ruleset.h"
#include "simulate/estimate.h"
#include "simulate/estimates_report.h"
#include "table/hash_key.h"
#include "weir/query.h"
#include "weir/result.h"
#include "weir/time.h"

namespace weir::simulate {

// Whether a limit of the policy, or a candidate in it, is on what is held at once.
[[nodiscard]] bool has_holds(const policy::Ruleset& ruleset) noexcept;

class EstimateRun {
 public:
  static constexpr std::size_t max_in_flight = std::size_t{1} << 20;

  static Result<std::unique_ptr<EstimateRun>> create(std::shared_ptr<const policy::Ruleset> ruleset,
                                                     const Estimate& estimate, std::size_t memory_budget,
                                                     table::HashKey hash_key);

  // In the order of time. The query has the actual cost; `known` is the verdict by it.
  void add(const Query& query, Instant at, std::optional<Duration> duration, const engine::Verdict& known);

  // More requests at a time than may be kept. They were kept all the same.
  [[nodiscard]] bool has_too_many() const noexcept { return has_too_many_; }

  // After the last request: what is in flight ends.
  [[nodiscard]] EstimateReport finish();

 private:
  struct InFlight {
    Instant begin{};
    Instant end{};
    std::uint64_t number = 0;  // of the request
    std::uint32_t route = 0;
    Cost estimate{0};
    Cost actual{0};
    engine::ReceiptParts receipt;
  };
  struct OfLimit {
    EstimateReport::OfLimit report;
    bool takes_cost = false;
    bool is_hold = false;
    std::uint64_t code = 0;  // of its name, in receipts
    core::Wide wasted = 0;   // units x microseconds
  };

  EstimateRun(std::unique_ptr<engine::Engine> engine, const Estimate& estimate);

  [[nodiscard]] static bool ends_later(const InFlight& a, const InFlight& b) noexcept {
    return a.end != b.end ? a.end > b.end : a.number > b.number;
  }
  void settle_until(Instant until);
  void settle(InFlight& request);
  void read_left(const InFlight& request);
  void keep_holds(engine::ReceiptParts& receipt) const;

  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<engine::Evaluator> evaluator_;
  engine::EvaluationBatchPtr batch_;
  Estimator estimator_;
  std::vector<InFlight> in_flight_;  // a heap: the next to end in front
  std::uint64_t number_ = 0;
  bool has_too_many_ = false;
  std::vector<std::uint64_t> left_;  // of the limits of a receipt, before it is settled upward
  std::vector<OfLimit> limits_;      // of the policy
  EstimateReport report_;
};

}  // namespace weir::simulate
