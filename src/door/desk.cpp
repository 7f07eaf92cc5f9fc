#include "door/desk.h"

namespace weir::door {
namespace {

std::unique_ptr<engine::Judge> judge_of(engine::Engine& engine, const Clock& clock, engine::Witness* witness,
                                        store::SharedStore* shared) {
  const engine::SharedAccess access{shared, &clock};
  return engine.new_judge(witness, shared == nullptr ? nullptr : &access);
}

}  // namespace

Desk::Desk(engine::Engine& engine, const Clock& clock, Settings settings, engine::Witness* witness,
           store::SharedStore* shared)
    : judge_(judge_of(engine, clock, witness, shared)), clock_(clock), settings_(settings) {}

Ruling Desk::judge(std::span<const engine::Query> queries) {
  engine::Judge::Hold hold = judge_->hold();
  if (verdicts_.size() < queries.size()) verdicts_.resize(queries.size());
  const std::span verdicts = std::span(verdicts_).first(queries.size());
  judge_->judge(queries, clock_.now(), verdicts);
  return {judge_->plan(), std::move(hold), verdicts};
}

Duration Desk::jitter() {
  if (settings_.retry_jitter <= Duration::zero()) return Duration::zero();
  return Duration(std::uniform_int_distribution<Duration::rep>(0, settings_.retry_jitter.count())(random_));
}

}  // namespace weir::door
