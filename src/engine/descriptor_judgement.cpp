#include "engine/descriptor_judgement.h"

#include <algorithm>

namespace weir::engine {

bool DescriptorJudgement::pass(Instant now) {
  for (std::size_t i = 0; i < asks_.size(); ++i) match(i);
  drop_replaced();
  const bool admitted = judge_live(now);
  for (std::size_t i = 0; i < asks_.size(); ++i) {
    const Part& part = parts_[i];
    if (part.table == nullptr || !part.shadow) continue;
    statuses_[i].decision =
        admitted ? part.table->decide(*part.rule, part.ask, now) : part.table->peek(*part.rule, part.ask, now);
  }
  return admitted;
}

void DescriptorJudgement::match(std::size_t i) {
  statuses_[i] = {};
  Part& part = parts_[i];
  part.descriptor = match_descriptor(domain_, asks_[i].entries, room_.key_);
  part.table = nullptr;
  part.limit = Verdict::no_limit;
  part.shadow = false;
  if (part.descriptor != nullptr) statuses_[i].name = part.descriptor->name;
  if (asks_[i].limit_override) {
    match_override(i, *asks_[i].limit_override);
  } else if (part.descriptor != nullptr && part.descriptor->unlimited) {
    statuses_[i].kind = DescriptorStatus::Kind::unlimited;
  } else if (part.descriptor != nullptr) {
    match_configured(i);
  }
  if (part.table == nullptr) return;
  statuses_[i].kind = DescriptorStatus::Kind::limited;
  part.ask = {part.table->hash(room_.key_), asks_[i].hits, Duration::zero()};  // nobody waits here
}

// Counts for the tuple as it is, whatever is configured for it.
void DescriptorJudgement::match_override(std::size_t i, const WindowNumbers& numbers) {
  const auto limit = Limit::fixed_window(numbers);
  if (!limit) return;
  parts_[i].table = plan_.override_table(domain_, numbers.window);
  parts_[i].of_override = core::compile(*limit);
  parts_[i].rule = &parts_[i].of_override;
  statuses_[i].numbers = numbers;
  write_descriptor_key(asks_[i].entries, room_.key_);
}

void DescriptorJudgement::match_configured(std::size_t i) {
  Part& part = parts_[i];
  part.limit = *part.descriptor->limit;
  statuses_[i].limit = part.limit;
  const PlannedLimit& planned = plan_.limits()[part.limit];
  part.table = planned.live[0]->table;
  part.rule = &planned.live[0]->rule;
  part.shadow = part.descriptor->shadow_mode;
  const Rate rate = planned.source->live.by_tier[0]->rate();
  statuses_[i].numbers = {rate.count, rate.per};
}

// A limit that another one of this request replaces, by its name, is as if it had not matched.
void DescriptorJudgement::drop_replaced() noexcept {
  const auto replaces = [&](const Part& part, const std::string& name) {
    return part.descriptor != nullptr &&
           std::ranges::find(part.descriptor->replaces, name) != part.descriptor->replaces.end();
  };
  const std::span parts = parts_.first(asks_.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].descriptor == nullptr || parts[i].descriptor->name.empty()) continue;
    const bool replaced = std::ranges::any_of(
        parts, [&](const Part& other) { return &other != &parts[i] && replaces(other, parts[i].descriptor->name); });
    if (!replaced) continue;
    parts[i].table = nullptr;
    parts[i].limit = Verdict::no_limit;
    statuses_[i] = {};
  }
}

bool DescriptorJudgement::judge_live(Instant now) noexcept {
  std::size_t count = 0;
  for (std::size_t i = 0; i < asks_.size(); ++i) {
    if (parts_[i].table == nullptr || parts_[i].shadow) continue;
    room_.checks_[count] = {parts_[i].table, parts_[i].rule, parts_[i].ask};
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
