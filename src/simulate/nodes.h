// The requests of a log on several nodes that share their limits through one store, beside what one exact store made of
// them: the real engine and leased store for each node, on virtual time.
//
// The store decides what it is asked at the instant of the question, and its answer is there a round trip later: so
// exact limits decide as in one process, but for what follows on an answer (warnings, penalties, candidates), which
// comes a round trip later too. Nothing fails here; tests/simulation is about that. The same log gives the same report.
// One thread.
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

  std::size_t nodes = 0;  // none: there is no such part of the report
  Spread spread = Spread::round_robin;
  Duration round_trip = std::chrono::milliseconds{1};
  std::optional<policy::Consistency> consistency;  // of every limit; none: what the policy says
};

class Nodes {
 public:
  // `memory_budget` bounds the states that are shared.
  static Result<std::unique_ptr<Nodes>> create(std::shared_ptr<const policy::Ruleset> ruleset,
                                               const NodesOptions& options, std::size_t memory_budget,
                                               std::size_t max_consumers);

  // In the order of time, each with the verdict of one exact store.
  void add(const Query& query, Instant at, const engine::Verdict& exact);

  // More consumers at a time than the memory budget has room for.
  [[nodiscard]] bool has_too_many() const noexcept { return store_.states.has_too_many(); }

  // After the last request. `seconds`: how long the log is.
  [[nodiscard]] NodesReport finish(double seconds);

 private:
  // The shared store, a round trip away.
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
    std::deque<Answer> answers;  // on their way, in the order of their times
    LimitsOfStates limits;
    RatePeak messages;
    std::vector<std::uint64_t> messages_of;           // by limit
    std::vector<std::uint64_t> contended_denials_of;  // likewise
  };

  // What became of one limit in a request.
  struct Fate {
    bool admitted = false;
    bool denied = false;
  };
  struct Request {
    Instant at{};
    bool is_done = false;
    bool exact_admitted = false;
    std::vector<Fate> exact;  // one for each outcome
    engine::EvaluationBatchPtr batch;
  };
  struct OfLimit {
    NodesReport::OfLimit report;
    LimitDemand admitted;  // the same measure as for what consumers need: here, what they got
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
  std::vector<Instant> awake_until_;  // of the nodes
  Duration wakes_for_{};
  std::optional<Instant> next_tick_;
  std::size_t next_node_ = 0;

  base::ObjectPool<Request> request_pool_;
  std::deque<Request*> requests_;  // in their order; the first is not done
  std::deque<OfLimit> limits_;
  NodesReport report_;
};

}  // namespace weir::simulate
