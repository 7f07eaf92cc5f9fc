// What the sessions of one loop share: here they ask, by one clock and one policy. All on the loop's thread.
#pragma once

#include <memory>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "door/settings.h"
#include "engine/engine.h"
#include "engine/judge.h"
#include "engine/query.h"
#include "engine/verdict.h"
#include "weir/clock.h"
#include "weir/time.h"

namespace weir::door {

// The verdicts on one batch. While it lives no reload takes place, so that the verdicts' views and the plan stay
// good; the next one ends what it says. Short-lived: answer, and let it go.
class Ruling {
 public:
  Ruling(engine::Judge& judge, engine::Judge::Hold hold, std::span<const engine::Verdict> verdicts, Instant now)
      : judge_(judge), hold_(std::move(hold)), verdicts_(verdicts), now_(now) {}

  [[nodiscard]] std::span<const engine::Verdict> verdicts() const noexcept { return verdicts_; }
  [[nodiscard]] const engine::Plan& plan() const noexcept { return judge_.plan(); }
  [[nodiscard]] Instant now() const noexcept { return now_; }

 private:
  engine::Judge& judge_;
  engine::Judge::Hold hold_;
  std::span<const engine::Verdict> verdicts_;
  Instant now_;
};

class Desk {
 public:
  // The clock and the witness (null: none) stay longer than the desk.
  Desk(engine::Engine& engine, const Clock& clock, Settings settings, engine::Witness* witness = nullptr)
      : judge_(engine.new_judge(witness)), clock_(clock), settings_(std::move(settings)) {}

  // One time for all of them.
  [[nodiscard]] Ruling judge(std::span<const engine::Query> queries);

  // For what else is judged: by name, by descriptor. Under its hold.
  [[nodiscard]] engine::Judge& judge() noexcept { return *judge_; }

  [[nodiscard]] Instant now() const noexcept { return clock_.now(); }

  [[nodiscard]] const Settings& settings() const noexcept { return settings_; }
  void change(Settings settings) { settings_ = std::move(settings); }

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
