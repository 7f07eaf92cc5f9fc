#include "door/desk.h"

namespace weir::door {

Ruling Desk::judge(std::span<const engine::Query> queries) {
  engine::Judge::Hold hold = judge_->hold();
  if (verdicts_.size() < queries.size()) verdicts_.resize(queries.size());
  const std::span verdicts = std::span(verdicts_).first(queries.size());
  const Instant now = clock_.now();
  judge_->judge(queries, now, verdicts);
  return {*judge_, std::move(hold), verdicts, now};
}

Duration Desk::jitter() {
  if (settings_.retry_jitter <= Duration::zero()) return Duration::zero();
  return Duration(std::uniform_int_distribution<Duration::rep>(0, settings_.retry_jitter.count())(random_));
}

}  // namespace weir::door
