#include "engine/descriptor_parts.h"

#include <algorithm>

#include "engine/shared_consumer.h"

namespace weir::engine {

void judge_banned(const DescriptorPart& part, DescriptorStatus& status) noexcept {
  status.decision = {};
  status.decision.admitted = part.gives_back || part.ask.cost == Cost{0};
  status.decision.retry_after.reset();
  status.admitted = status.decision.admitted || part.shadow;
}

Cost give_back(const DescriptorPart& part, DescriptorStatus& status) noexcept {
  Decision& decision = status.decision;
  const Cost given{std::min(part.ask.cost.units(), decision.limit - decision.remaining)};
  decision.remaining += given.units();
  if (decision.remaining == decision.limit) decision.reset_after = Duration::zero();
  status.admitted = decision.admitted = true;
  decision.retry_after = Duration::zero();
  return given;
}

void DescriptorParts::match(const Plan& plan, const policy::Domain& domain, std::span<const DescriptorAsk> asks,
                            std::span<DescriptorStatus> statuses) {
  for (std::size_t i = 0; i < asks.size(); ++i) {
    DescriptorStatus& status = statuses[i];
    DescriptorPart& part = parts_[i];
    status = {};
    part.descriptor = match_descriptor(domain, asks[i].entries, key_);
    part.table = nullptr;
    part.limit = Verdict::no_limit;
    part.shadow = part.quota = part.banned = false;
    part.gives_back = asks[i].gives_back;
    if (part.descriptor != nullptr) {
      status.name = part.descriptor->name;
      status.metadata = part.descriptor->metadata ? &*part.descriptor->metadata : nullptr;
    }
    if (asks[i].limit_override) {
      match_override(plan, domain, asks[i], part, status);
    } else if (part.descriptor != nullptr && part.descriptor->unlimited) {
      status.kind = DescriptorStatus::Kind::unlimited;
    } else if (part.descriptor != nullptr) {
      match_configured(plan, part, status);
    }
    if (part.table == nullptr && !part.banned) continue;
    status.kind = DescriptorStatus::Kind::limited;
    part.ask = {{}, asks[i].hits, Duration::zero()};  // nobody waits here
    if (part.banned) continue;
    part.ask.key = part.table->hash(key_);
    if (plan.shared_keys() == nullptr) continue;
    part.consumer.clear();
    append_shared_descriptor(part.consumer, key_);
  }
  drop_replaced(statuses);
}

// Counts for the tuple as it is, whatever is configured for it.
void DescriptorParts::match_override(const Plan& plan, const policy::Domain& domain, const DescriptorAsk& ask,
                                     DescriptorPart& part, DescriptorStatus& status) {
  const WindowNumbers& numbers = *ask.limit_override;
  part.banned = numbers.limit == 0;
  status.numbers = numbers;
  const auto limit = Limit::fixed_window(numbers);
  if (!limit) return;
  part.table = plan.override_table(domain, numbers.window);
  part.name = plan.override_name(domain, numbers.window);
  part.of_override = core::compile(*limit);
  part.rule = &part.of_override;
  write_descriptor_key(ask.entries, key_);
}

void DescriptorParts::match_configured(const Plan& plan, DescriptorPart& part, DescriptorStatus& status) {
  part.limit = *part.descriptor->limit;
  status.limit = part.limit;
  part.shadow = part.descriptor->shadow_mode;
  part.quota = part.descriptor->quota_mode;
  if (part.descriptor->banned_per) {
    part.banned = true;
    status.numbers = {0, *part.descriptor->banned_per};
    return;
  }
  const PlannedLimit& planned = plan.limits()[part.limit];
  part.table = planned.live[0]->table;
  part.name = planned.live[0]->name;
  part.rule = &planned.live[0]->rule;
  const Rate rate = planned.source->live.by_tier[0]->rate();
  status.numbers = {rate.count, rate.per};
}

// A limit that another one of this request replaces, by its name, is as if it had not matched.
void DescriptorParts::drop_replaced(std::span<DescriptorStatus> statuses) noexcept {
  const auto replaces = [&](const DescriptorPart& part, const std::string& name) {
    return part.descriptor != nullptr &&
           std::ranges::find(part.descriptor->replaces, name) != part.descriptor->replaces.end();
  };
  const std::span parts = std::span(parts_).first(statuses.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].descriptor == nullptr || parts[i].descriptor->name.empty()) continue;
    const bool replaced = std::ranges::any_of(parts, [&](const DescriptorPart& other) {
      return &other != &parts[i] && replaces(other, parts[i].descriptor->name);
    });
    if (!replaced) continue;
    parts[i].table = nullptr;
    parts[i].banned = false;
    parts[i].limit = Verdict::no_limit;
    statuses[i] = {};
  }
}

}  // namespace weir::engine
