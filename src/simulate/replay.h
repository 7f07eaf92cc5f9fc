// Entries of a log, in the order of time, to one policy or to two. One thread.
//
// They are judged in batches, so that the states of the next requests are on their way while one is judged; a batch
// is judged as its requests would be, one after the other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/engine.h"
#include "engine/query.h"
#include "engine/verdict.h"
#include "policy/ruleset.h"
#include "simulate/line_order.h"
#include "simulate/log_entry.h"
#include "simulate/policy_tally.h"
#include "simulate/report.h"
#include "weir/result.h"
#include "weir/time.h"

namespace weir::simulate {

// How many requests are judged at once.
inline constexpr std::size_t replay_batch = LineOrder::most_lent;

// A policy with its engine, and the tally of what it did.
class PolicyRun {
 public:
  struct Options {
    engine::Engine::Options engine;
    Names names = Names::hashed;
    HashedName hashed_name;
    std::size_t most_consumers = 0;
  };

  static Result<std::unique_ptr<PolicyRun>> create(std::shared_ptr<const policy::Ruleset> ruleset,
                                                   const Options& options);

  // Verdicts hold until the next call.
  std::span<const engine::Verdict> judge(std::span<const engine::Query> queries, std::span<const Instant> times);

  [[nodiscard]] PolicyTally& tally() noexcept { return tally_; }
  [[nodiscard]] const PolicyTally& tally() const noexcept { return tally_; }
  [[nodiscard]] PolicyReport report(const Stretch& stretch) const { return tally_.report(*engine_, stretch); }

 private:
  PolicyRun(std::unique_ptr<engine::Engine> engine, const Options& options);

  std::unique_ptr<engine::Engine> engine_;
  std::shared_ptr<const engine::Plan> plan_;
  std::unique_ptr<engine::Judge> judge_;
  PolicyTally tally_;
  std::array<engine::Verdict, replay_batch> verdicts_;
};

class Replay {
 public:
  // `candidate` may be null.
  Replay(std::unique_ptr<PolicyRun> policy, std::unique_ptr<PolicyRun> candidate) noexcept;

  // The entry has to hold until `replay_batch` - 1 others have been added, as those of LineOrder do.
  void add(const LogEntry& entry);

  // After the last entry: the report but for its log.
  [[nodiscard]] Report finish();

 private:
  void judge_batch();
  void compare(std::span<const engine::Query> queries, std::span<const engine::Verdict> live,
               std::span<const engine::Verdict> candidate);
  [[nodiscard]] Comparison comparison() const;

  std::unique_ptr<PolicyRun> policy_;
  std::unique_ptr<PolicyRun> candidate_;

  std::array<engine::Query, replay_batch> queries_;
  std::array<Instant, replay_batch> times_{};
  std::array<std::vector<engine::Header>, replay_batch> headers_;
  std::size_t count_ = 0;

  std::optional<Stretch> stretch_;
  RatePeak rate_;
  std::uint64_t whole_second_entries_ = 0;
  std::uint64_t both_admit_ = 0;
  std::uint64_t both_deny_ = 0;
  std::uint64_t newly_denied_ = 0;
  std::uint64_t newly_admitted_ = 0;
};

}  // namespace weir::simulate
