#include "engine/descriptor_judgement.h"

namespace weir::engine {

bool DescriptorJudgement::pass(Instant now) {
  room_.parts_.match(plan_, domain_, asks_, statuses_);
  const bool admitted = judge_live(now);
  for (std::size_t i = 0; i < asks_.size(); ++i) {
    const DescriptorPart& part = room_.parts_[i];
    if (part.table == nullptr || !part.shadow) continue;
    statuses_[i].decision =
        admitted ? part.table->decide(*part.rule, part.ask, now) : part.table->peek(*part.rule, part.ask, now);
  }
  return admitted;
}

bool DescriptorJudgement::judge_live(Instant now) noexcept {
  std::size_t count = 0;
  for (std::size_t i = 0; i < asks_.size(); ++i) {
    const DescriptorPart& part = room_.parts_[i];
    if (part.table == nullptr || part.shadow) continue;
    room_.checks_[count] = {part.table, part.rule, part.ask};
    room_.owners_[count++] = i;
  }
  if (count == 0) return true;
  const bool admitted =
      table::decide_together(std::span(room_.checks_).first(count), now, std::span(room_.decisions_).first(count));
  for (std::size_t c = 0; c < count; ++c) {
    DescriptorStatus& status = statuses_[room_.owners_[c]];
    status.decision = room_.decisions_[c];
    status.admitted = status.decision.admitted;
  }
  return admitted;
}

}  // namespace weir::engine
