// Replays a log for callers that do not know their costs in advance: each request reserves an estimate and settles when
// it ends. The verdicts are compared with those for the costs in the log.
//
// Time is virtual. Events are ordered by time; at the same time, ends precede requests and are ordered like their
// requests. A request ends after its duration. Without a duration in the log it ends immediately, and its concurrency
// units are held for the limit's lease. Denied requests have no end.
//
// Checking at cost 0 and reporting at the end is simulated as reserving 0 and settling: limits with a configured cost
// are charged once, by the check. Not thread-safe.
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

// True if the policy has a concurrency limit, live or as a candidate.
[[nodiscard]] bool has_holds(const policy::Ruleset& ruleset) noexcept;

class EstimateRun {
 public:
  static constexpr std::size_t max_in_flight = std::size_t{1} << 20;

  static Result<std::unique_ptr<EstimateRun>> create(std::shared_ptr<const policy::Ruleset> ruleset,
                                                     const Estimate& estimate, std::size_t memory_budget,
                                                     table::HashKey hash_key);

  // Must be called in order of time. The query has the actual cost; `known` is the verdict for it.
  void add(const Query& query, Instant at, std::optional<Duration> duration, const engine::Verdict& known);

  // True if max_in_flight was ever exceeded. Nothing was dropped.
  [[nodiscard]] bool has_too_many() const noexcept { return has_too_many_; }

  // Must be called after the last request. Completes all requests in flight.
  [[nodiscard]] EstimateReport finish();

 private:
  struct InFlight {
    Instant begin{};
    Instant end{};
    std::uint64_t number = 0;  // the request's sequence number
    std::uint32_t route = 0;
    Cost estimate{0};
    Cost actual{0};
    engine::ReceiptParts receipt;
  };
  struct OfLimit {
    EstimateReport::OfLimit report;
    bool takes_cost = false;
    bool is_hold = false;
    std::uint64_t code = 0;  // identifies the limit in receipts
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
  std::vector<InFlight> in_flight_;  // a heap with the next to end in front
  std::uint64_t number_ = 0;
  bool has_too_many_ = false;
  std::vector<std::uint64_t> left_;  // remaining quota of each limit of a receipt, before it is settled
  std::vector<OfLimit> limits_;      // in file order
  EstimateReport report_;
};

}  // namespace weir::simulate
