#include "engine/matched_descriptors.h"

#include <algorithm>

#include "match/consumer.h"

namespace weir::engine {

void decide_banned(const MatchedDescriptor& part, DescriptorStatus& status) noexcept {
  status.decision = {};
  status.decision.admitted = part.gives_back || part.hits == Cost{0};
  status.decision.retry_after.reset();
  status.admitted = status.decision.admitted || part.shadow;
}

void MatchedDescriptors::match(const Bindings& bindings, const policy::Domain& domain,
                               std::span<const match::DescriptorQuery> asks, std::span<DescriptorStatus> statuses) {
  if (parts_.size() < asks.size()) parts_.resize(asks.size());
  for (std::size_t i = 0; i < asks.size(); ++i) {
    DescriptorStatus& status = statuses[i];
    MatchedDescriptor& part = parts_[i];
    status = {};
    part.descriptor = match::match_descriptor(domain, asks[i].entries, key_);
    part.states = nullptr;
    part.limit = Verdict::no_limit;
    part.shadow = part.quota = part.banned = false;
    part.gives_back = asks[i].gives_back;
    if (part.descriptor != nullptr) {
      status.name = part.descriptor->name;
      status.metadata = part.descriptor->metadata ? &*part.descriptor->metadata : nullptr;
    }
    if (asks[i].limit_override) {
      match_override(bindings, domain, asks[i], part, status);
    } else if (part.descriptor != nullptr && part.descriptor->unlimited) {
      status.kind = DescriptorStatus::Kind::unlimited;
    } else if (part.descriptor != nullptr) {
      match_configured(bindings, part, status);
    }
    if (part.states == nullptr && !part.banned) continue;
    status.kind = DescriptorStatus::Kind::limited;
    part.hits = asks[i].hits;
    if (part.banned) continue;
    part.hash = part.states->table->hash(key_);
    if (bindings.shared_keys() == nullptr) continue;
    part.consumer.clear();
    match::append_shared_descriptor(part.consumer, key_);
  }
  drop_replaced(statuses);
}

// Counts for the tuple as it is, whatever is configured for it.
void MatchedDescriptors::match_override(const Bindings& bindings, const policy::Domain& domain,
                                        const match::DescriptorQuery& ask, MatchedDescriptor& part,
                                        DescriptorStatus& status) {
  const WindowNumbers& numbers = *ask.limit_override;
  part.banned = numbers.limit == 0;
  status.numbers = numbers;
  const auto limit = Limit::fixed_window(numbers);
  if (!limit) return;
  part.states = bindings.override_states(domain, numbers.window);
  part.of_override = core::compile(*limit);
  part.rule = &part.of_override;
  match::write_descriptor_key(ask.entries, key_);
}

void MatchedDescriptors::match_configured(const Bindings& bindings, MatchedDescriptor& part, DescriptorStatus& status) {
  part.limit = *part.descriptor->limit;
  status.limit = part.limit;
  part.shadow = part.descriptor->shadow_mode;
  part.quota = part.descriptor->quota_mode;
  if (part.descriptor->banned_per) {
    part.banned = true;
    status.numbers = {0, *part.descriptor->banned_per};
    return;
  }
  const BoundLimit& bound = bindings.limits()[part.limit];
  part.states = &*bound.live[0];
  part.rule = &bound.live[0]->rule;
  const Rate rate = bound.source->live.by_tier[0]->rate();
  status.numbers = {rate.count, rate.per};
}

// A limit that another one of this request replaces, by its name, is as if it had not matched.
void MatchedDescriptors::drop_replaced(std::span<DescriptorStatus> statuses) noexcept {
  const auto replaces = [&](const MatchedDescriptor& part, const std::string& name) {
    return part.descriptor != nullptr &&
           std::ranges::find(part.descriptor->replaces, name) != part.descriptor->replaces.end();
  };
  const std::span parts = std::span(parts_).first(statuses.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].descriptor == nullptr || parts[i].descriptor->name.empty()) continue;
    const bool replaced = std::ranges::any_of(parts, [&](const MatchedDescriptor& other) {
      return &other != &parts[i] && replaces(other, parts[i].descriptor->name);
    });
    if (!replaced) continue;
    parts[i].states = nullptr;
    parts[i].banned = false;
    parts[i].limit = Verdict::no_limit;
    statuses[i] = {};
  }
}

}  // namespace weir::engine
