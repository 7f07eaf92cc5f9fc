#include "engine/descriptor_judgement.h"

#include <utility>

namespace weir::engine {

void DescriptorChecks::add(const table::Check& check, std::size_t owner, bool quota) noexcept {
  checks_[count_] = check;
  owners_[count_] = owner;
  is_quota_[count_++] = quota;
  if (quota) ++quotas_;
}

void DescriptorChecks::add_known_quota(bool over) noexcept {
  ++quotas_;
  if (over) ++over_;
}

bool DescriptorChecks::decide(Instant now) noexcept {
  std::size_t fitting = count_;
  while (true) {
    if (quotas_ > 0 && over_ == quotas_) break;
    if (fitting == 0) return true;
    const std::span checks = std::span(checks_).first(fitting);
    if (table::decide_together(checks, now, std::span(decisions_).first(fitting))) return true;
    if (!drop_full_quotas(fitting)) return false;
  }
  look(fitting, now);  // every quota is over
  return false;
}

bool DescriptorChecks::drop_full_quotas(std::size_t& fitting) noexcept {
  for (std::size_t i = 0; i < fitting; ++i) {
    if (!decisions_[i].admitted && !is_quota_[i]) return false;
  }
  for (std::size_t i = 0; i < fitting;) {
    if (decisions_[i].admitted) {
      ++i;
      continue;
    }
    --fitting;
    ++over_;
    std::swap(checks_[i], checks_[fitting]);
    std::swap(owners_[i], owners_[fitting]);
    std::swap(is_quota_[i], is_quota_[fitting]);
    std::swap(decisions_[i], decisions_[fitting]);
  }
  return true;
}

void DescriptorChecks::look(std::size_t count, Instant now) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    table::Ask ask = checks_[i].ask;
    ask.cost = Cost{0};
    decisions_[i] = checks_[i].table->peek(*checks_[i].rule, ask, now);
  }
}

bool DescriptorJudgement::pass(Instant now) {
  room_.parts_.match(plan_, domain_, asks_, statuses_);
  const bool admitted = judge_live(now);
  for (std::size_t i = 0; i < asks_.size(); ++i) {
    const DescriptorPart& part = room_.parts_[i];
    if (part.banned) judge_banned(part, statuses_[i]);
    if (part.table == nullptr || is_live(part)) continue;
    if (part.gives_back) {
      statuses_[i].decision = part.table->peek(*part.rule, {part.ask.key, Cost{0}, Duration::zero()}, now);
      const Instant charged_at = statuses_[i].decision.charged_at;
      part.table->refund(*part.rule, part.ask.key, give_back(part, statuses_[i]), charged_at, now);
    } else {
      statuses_[i].decision =
          admitted ? part.table->decide(*part.rule, part.ask, now) : part.table->peek(*part.rule, part.ask, now);
    }
  }
  return admitted;
}

bool DescriptorJudgement::judge_live(Instant now) noexcept {
  DescriptorChecks& checks = room_.checks_;
  checks.clear();
  bool denied = false;
  for (std::size_t i = 0; i < asks_.size(); ++i) {
    const DescriptorPart& part = room_.parts_[i];
    if (!is_live(part)) continue;
    if (part.table != nullptr) checks.add({part.table, part.rule, part.ask}, i, part.quota);
    if (!part.banned || part.ask.cost == Cost{0}) continue;
    if (part.quota) {
      checks.add_known_quota(true);
    } else {
      denied = true;
    }
  }
  if (denied) checks.look(now);
  const bool admitted = !denied && checks.decide(now);
  checks.for_each_decision([&](std::size_t i, const Decision& decision) {
    statuses_[i].decision = decision;
    statuses_[i].admitted = decision.admitted;
  });
  return admitted;
}

}  // namespace weir::engine
