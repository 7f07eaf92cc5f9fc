// What the sessions of one loop share: here they ask, by one clock and one policy. All on the loop's thread.
#pragma once

#include <cstddef>
#include <memory>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "door/settings.h"
#include "engine/engine.h"
#include "engine/hearing.h"
#include "engine/judge.h"
#include "engine/query.h"
#include "engine/verdict.h"
#include "store/shared/shared_store.h"
#include "weir/clock.h"
#include "weir/time.h"

namespace weir::door {

// The verdicts on one batch, of a judge or of a hearing. While a judge's lives no reload takes place, so that the
// verdicts' views and the plan stay good; the next one ends what it says. Short-lived: answer, and let it go.
class Ruling {
 public:
  Ruling(const engine::Plan& plan, engine::Judge::Hold hold, std::span<const engine::Verdict> verdicts)
      : plan_(plan), hold_(std::move(hold)), verdicts_(verdicts) {}

  // It is over, and stays so. Its first questions are the batch's queries.
  explicit Ruling(const engine::Hearing& hearing) : plan_(hearing.plan()), hearing_(&hearing) {}

  // On the query of that number.
  [[nodiscard]] const engine::Verdict& verdict(std::size_t i) const noexcept {
    return hearing_ == nullptr ? verdicts_[i] : *hearing_->verdict(i);
  }
  [[nodiscard]] const engine::Plan& plan() const noexcept { return plan_; }

 private:
  const engine::Plan& plan_;
  engine::Judge::Hold hold_;
  std::span<const engine::Verdict> verdicts_;
  const engine::Hearing* hearing_ = nullptr;  // null: a judge's
};

class Desk {
 public:
  // The clock, the witness (null: none) and the shared store (null: none) stay longer than the desk.
  Desk(engine::Engine& engine, const Clock& clock, Settings settings, engine::Witness* witness = nullptr,
       store::SharedStore* shared = nullptr);

  // Whether what is asked is judged by a store that several nodes share: later, at a hearing (door/inquiry.h).
  [[nodiscard]] bool is_shared() const noexcept { return judge_->is_shared(); }

  // At once, on a store of this process's own. One time for all of them.
  [[nodiscard]] Ruling judge(std::span<const engine::Query> queries);

  // For what else is judged: by name, by descriptor. Under its hold.
  [[nodiscard]] engine::Judge& judge() noexcept { return *judge_; }

  [[nodiscard]] Instant now() const noexcept { return clock_.now(); }

  [[nodiscard]] const Settings& settings() const noexcept { return settings_; }
  void change(Settings settings) { settings_ = settings; }

  // From nothing to Settings::retry_jitter, another one each time.
  [[nodiscard]] Duration jitter();

 private:
  std::unique_ptr<engine::Judge> judge_;
  const Clock& clock_;
  Settings settings_;
  std::vector<engine::Verdict> verdicts_;
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace weir::door
