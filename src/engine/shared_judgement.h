// One query judged on a shared store: the same as Judgement does on tables, in as many steps as answers are needed
// for. Live limits and blocks are one step, so a query without graduated responses, shadow limits and candidates takes
// one trip to the store.
//
// If the store fails in that first step, the query is judged without it (outage.h). If it fails later, the verdict on
// the live limits stands, and what was asked later is as if it had not been.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/conclusion.h"
#include "engine/coverage.h"
#include "engine/judgement.h"
#include "engine/shared_case.h"
#include "engine/store_paths.h"
#include "engine/verdict.h"
#include "weir/clock.h"

namespace weir::engine {

// What the cases of one judge share.
struct SharedRoom {
  const Clock& clock;
  // Something was admitted in this process while the store was away, and may not be counted there yet.
  std::atomic<bool>& owes;
  Judgement::Room judgement{};
  StorePaths paths{};
};

class SharedJudgement final : public SharedCase {
 public:
  SharedJudgement(store::SharedStore& store, Owner& owner, SharedRoom& room) noexcept
      : SharedCase(store, owner), room_(room) {}

  // Filled by who found what covers the query.
  Coverage coverage;

  void begin(const Plan& plan, bool peek);

  // When it has ended. Its views are good until the next begin().
  [[nodiscard]] const Verdict& verdict() const noexcept { return verdict_; }
  [[nodiscard]] std::span<const Outcome> outcomes() const noexcept { return outcomes_; }

 private:
  enum class Stage : std::uint8_t { live, warning, penalties, blocks, followers };

  bool step() override;

  [[nodiscard]] const PlannedLimit& limit_of(std::size_t i) const noexcept {
    return plan_->limits()[coverage.covered[i].limit];
  }
  [[nodiscard]] LiveOutcomes live_outcomes() const noexcept { return {outcomes_, live_}; }
  [[nodiscard]] store::SharedOperation operation(bool charges) const noexcept {
    return charges && !peek_ ? store::SharedOperation::decide : store::SharedOperation::look;
  }

  void gather();
  void ask_live();
  store::SharedCheck& add_live(store::SharedAsk& ask, std::size_t c);
  store::SharedCheck& add_once(store::SharedAsk& ask, std::size_t i, const TableRule& rule);
  [[nodiscard]] std::uint64_t take_owed(std::size_t i) noexcept;

  void read_live();
  void conclude_live();
  void judge_locally(const store::SharedAsk& failed);
  void owe(const store::SharedAsk& failed, Instant now) noexcept;
  void ask_warning();
  void read_warning();
  void ask_penalties();
  void read_penalties();
  void read_blocks();
  void conclude(bool admits);
  void ask_followers(bool admits);
  void read_followers();

  SharedRoom& room_;
  const Plan* plan_ = nullptr;
  bool peek_ = false;
  Stage stage_ = Stage::live;
  bool over_ = false;
  std::vector<Outcome> outcomes_;
  std::vector<std::uint32_t> live_;      // which outcomes are live limits
  std::vector<std::uint32_t> subjects_;  // which outcomes the asks of this step belong to
  std::size_t shadows_ = 0;              // of followers, those that come first
  bool too_many_ = false;
  bool blocked_ = false;
  Deniers deniers_;
  Reason reason_ = Reason::uncovered;
  Verdict verdict_;
};

}  // namespace weir::engine
