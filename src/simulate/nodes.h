// Replays requests on several nodes that share their limits through one store, and compares the verdicts with those of
// one exact store. Each node runs the real engine and leased store on virtual time.
//
// The store decides when it receives a request, and its reply arrives a round trip later. Exact limits therefore decide
// as in one process, but the consequences of a reply (warnings, penalties, candidates) are a round trip late. Failures
// are not simulated here (see tests/simulation). The result is deterministic. Not thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/object_pool.h"
#include "engine/evaluation_batch.h"
#include "engine/verdict.h"
#include "policy/ruleset.h"
#include "simulate/demand.h"
#include "simulate/nodes_report.h"
#include "simulate/rates.h"
#include "simulate/shared_states.h"
#include "simulate/simulated_node.h"
#include "store/store.h"
#include "weir/query.h"
#include "weir/result.h"
#include "weir/time.h"

namespace weir::simulate {

struct NodesOptions {
  static constexpr std::size_t max_nodes = 1'000;
  static constexpr Duration max_round_trip = std::chrono::seconds{10};

  std::size_t nodes = 0;  // zero disables this part of the report
  Spread spread = Spread::round_robin;
  Duration round_trip = std::chrono::milliseconds{1};
  std::optional<policy::Consistency> consistency;  // consistency of every limit; absent: as configured in the policy
};

class Nodes {
 public:
  // `memory_budget` bounds the memory for the shared states.
  static Result<std::unique_ptr<Nodes>> create(std::shared_ptr<const policy::Ruleset> ruleset,
                                               const NodesOptions& options, std::size_t memory_budget,
                                               std::size_t max_consumers);

  // Must be called in order of time. `exact` is the verdict of one exact store.
  void add(const Query& query, Instant at, const engine::Verdict& exact);

  // True if the memory budget was too small for the concurrent consumers.
  [[nodiscard]] bool has_too_many() const noexcept { return store_.states.has_too_many(); }

  // Must be called after the last request. `seconds` is the duration of the log.
  [[nodiscard]] NodesReport finish(double seconds);

 private:
  // The shared store, reached with a round-trip delay.
  struct DistantStore final : store::Store {
    struct Answer {
      Instant at;
      store::Group* group;
    };

    DistantStore(const VirtualClock& its_clock, Duration its_round_trip, std::size_t max_states)
        : clock(its_clock), round_trip(its_round_trip), states(max_states) {}

    using Store::submit;
    void submit(store::Batch batch) override;
    void note(const store::Group& group);

    const VirtualClock& clock;
    const Duration round_trip;
    SharedStates states;
    std::deque<Answer> answers;  // answers in flight, ordered by time
    LimitsOfStates limits;
    RatePeak messages;
    std::vector<std::uint64_t> messages_of;           // messages by limit
    std::vector<std::uint64_t> contended_denials_of;  // contended denials by limit
  };

  // The outcome of one limit for a request.
  struct Fate {
    bool admitted = false;
    bool denied = false;
  };
  struct Request {
    Instant at{};
    bool is_done = false;
    bool exact_admitted = false;
    std::vector<Fate> exact;  // one per outcome
    engine::EvaluationBatchPtr batch;
  };
  struct OfLimit {
    NodesReport::OfLimit report;
    LimitDemand admitted;  // tracks the admitted requests, to find consumers over the limit
  };

  Nodes(const NodesOptions& options, std::shared_ptr<const policy::Ruleset> ruleset, std::size_t max_states,
        std::size_t max_consumers);

  [[nodiscard]] static Fate fate_of(const engine::Outcome& outcome, const engine::Verdict& verdict) noexcept;
  [[nodiscard]] std::size_t node_for(const Query& query) noexcept;
  void run_until(Instant until);
  void tick();
  void wake(std::size_t node);
  void conclude_all();
  void conclude(const Request& request);

  const NodesOptions options_;
  const std::shared_ptr<const policy::Ruleset> ruleset_;
  VirtualClock clock_;
  DistantStore store_;
  std::vector<std::unique_ptr<SimulatedNode>> nodes_;
  std::vector<Instant> awake_until_;  // one per node
  Duration wakes_for_{};
  std::optional<Instant> next_tick_;
  std::size_t next_node_ = 0;

  base::ObjectPool<Request> request_pool_;
  std::deque<Request*> requests_;  // in order of arrival; the first one is always unfinished
  std::deque<OfLimit> limits_;
  NodesReport report_;
};

}  // namespace weir::simulate
