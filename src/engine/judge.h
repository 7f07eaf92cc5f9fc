// Queries in, verdicts out. One judge per thread; all judges of an engine share its states.
//
// A batch is judged as its queries would be, one after the other. In the steady state nothing is allocated.
//
// Where another thread may reload the policy, a verdict is read under hold():
//
//   const auto held = judge.hold();
//   const Verdict verdict = judge.judge(query, now);
//   answer(verdict, judge.plan());
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/counters.h"
#include "engine/coverage.h"
#include "engine/descriptor_judgement.h"
#include "engine/descriptor_name.h"
#include "engine/descriptors.h"
#include "engine/judgement.h"
#include "engine/named.h"
#include "engine/plan.h"
#include "engine/query.h"
#include "engine/verdict.h"
#include "engine/witness.h"
#include "store/shared/shared_store.h"
#include "weir/clock.h"
#include "weir/result.h"
#include "weir/time.h"

namespace weir::engine {

class Engine;
class Hearing;
struct SharedRoom;

// What a judge of shared limits needs: both stay longer than it does.
struct SharedAccess {
  store::SharedStore* store;
  const Clock* clock;
};

class Judge {
 public:
  ~Judge();
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;

  // While it is held no reload takes place: the policy and the views in verdicts stay. Short: a reload waits for it.
  using Hold = std::unique_lock<std::recursive_mutex>;
  [[nodiscard]] Hold hold() { return Hold(busy_); }

  // Whether the states are on a shared store: then all is judged in hearings, and what follows here, which answers at
  // once, only by what this process knows by itself.
  [[nodiscard]] bool is_shared() const noexcept { return shared_ != nullptr; }
  [[nodiscard]] std::shared_ptr<Hearing> new_hearing();

  // The verdict's views are good until the next call.
  [[nodiscard]] Verdict judge(const Query& query, Instant now);

  // `verdicts` has the length of `queries`.
  void judge(std::span<const Query> queries, Instant now, std::span<Verdict> verdicts);

  // The same with a time for each query, none before the one before it: traffic of the past.
  void judge(std::span<const Query> queries, std::span<const Instant> times, std::span<Verdict> verdicts);

  // Judges the descriptors of one request together, all or nothing; true if it is admitted. `statuses` has the length
  // of `asks`, at most `table::most_together`. Nothing is known of a domain that the policy does not have.
  [[nodiscard]] bool judge(std::string_view domain, std::span<const DescriptorAsk> asks, Instant now,
                           std::span<DescriptorStatus> statuses);
  // Those of several requests, one after the other.
  void judge(std::span<DescriptorCase> cases, Instant now);

  // One limit by its name. An error if the policy does not know the limit or the tier, or cannot read the consumer.
  [[nodiscard]] Result<Verdict> judge(const NamedAsk& ask, Instant now);

  // `verdicts` has the length of `asks`.
  void judge(std::span<const NamedAsk> asks, Instant now, std::span<Result<Verdict>> verdicts);

  // Forgets what a limit has counted for a consumer, its warnings and blocks included, whatever its tier is.
  // An error also if the consumer shares an overflow state with others: that stays.
  Result<void> reset(const NamedAsk& ask, Instant now);
  Result<void> reset(const DescriptorName& name, Instant now);

  // The policy of the last verdict: what its limit's number means.
  [[nodiscard]] const Plan& plan() const noexcept { return *plan_; }

  // The key of the consumer that an outcome of `query` counts for, as consumer.h writes it; good until the next call.
  [[nodiscard]] std::string_view consumer_of(const Query& query, const Outcome& outcome);
  // The same for a question by name that was judged.
  [[nodiscard]] std::string_view consumer_of(const NamedAsk& ask);

 private:
  friend class Engine;
  friend class Hearing;

  // How many queries are matched ahead, so that their states are on the way when they are judged.
  static constexpr std::size_t ahead = 16;

  // The part of it that is shared.
  struct Shared;

  Judge(Engine& engine, std::shared_ptr<const Plan> plan, Witness* witness, const SharedAccess* shared);

  // By the engine, which holds busy_.
  void enter(std::shared_ptr<const Plan> plan);

  void judge_piece(std::span<const Query> queries, std::span<const Instant> times, std::span<Verdict> verdicts);
  void judge_piece(std::span<const NamedAsk> asks, Instant now, std::span<Result<Verdict>> verdicts);
  void judge_found(const Coverage& coverage, bool peek, Instant now, Verdict& verdict);
  // The list of outcomes may have moved as it grew.
  void point_to_outcomes(std::span<Verdict> verdicts) noexcept;
  void point_to_outcomes(Verdict& verdict, std::size_t& first) noexcept;
  void count(const Coverage& coverage, const Verdict& verdict, Instant now) noexcept;
  [[nodiscard]] bool judge_case(const policy::Domain& domain, const DescriptorCase& asked, Instant now);
  [[nodiscard]] static Result<void> forget(const PlannedLimit& limit, std::string_view key, Instant now);
  void count_descriptor(const Plan& plan, std::uint32_t limit, const DescriptorAsk& ask, const DescriptorStatus& status,
                        bool admitted) noexcept;

  Engine& engine_;
  Witness* const witness_;  // null: none
  // Held while judging: a reload waits for the queries in hand, and they never wait for each other.
  std::recursive_mutex busy_;
  std::shared_ptr<const Plan> plan_;
  std::unique_ptr<Counters> counters_;
  std::optional<CoverageFinder> finder_;
  std::optional<NamedFinder> named_finder_;
  std::array<Coverage, ahead> coverages_;
  Judgement::Room room_;
  std::vector<Outcome> outcomes_;  // only grows; those in use come first
  std::size_t used_ = 0;
  DescriptorJudgement::Room descriptor_room_;
  std::vector<DescriptorVerdict> descriptor_verdicts_;  // for the witness
  std::unique_ptr<Shared> shared_;                      // null: all states are this process's own
};

}  // namespace weir::engine
