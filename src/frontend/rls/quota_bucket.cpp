#include "frontend/rls/quota_bucket.h"

#include <algorithm>

namespace weir::frontend {
namespace {

using ActionKind = QuotaAction::Kind;

// Reports within this time count as one.
constexpr Duration min_count = std::chrono::milliseconds(250);

}  // namespace

bool QuotaBucket::Tokens::is_at_least(unsigned tenths, const Tokens& other) const noexcept {
  __extension__ using Wide = __int128;
  return Wide{per_fill} * other.fill.count() * 10 >= Wide{other.per_fill} * fill.count() * tenths;
}

QuotaBucket::QuotaBucket(bool admits, const QuotaTimes& times, Instant now)
    : times_(times), admits_(admits), reported_at_(now), used_at_(now), counted_from_(now) {}

QuotaBucket::QuotaBucket(std::span<const Part> parts, const QuotaTimes& times, Instant now)
    : QuotaBucket(false, times, now) {
  for (const Part& part : parts) parts_.push_back({part.assigner, part.assigner->join(), part.cost.units()});
}

QuotaBucket::~QuotaBucket() {
  for (const OwnPart& part : parts_) part.assigner->leave(part.holder);
}

void QuotaBucket::report(std::uint64_t requests, Instant now) {
  constexpr std::uint64_t max_counted = std::uint64_t{1} << 53;
  reported_at_ = now;
  if (requests > 0) used_at_ = now;
  if (!is_counting_) {  // the first report covers an unknown period
    is_counting_ = true;
    counted_from_ = now;
    return;
  }
  counted_ = std::min(max_counted, counted_ + std::min(max_counted, requests));
  const Duration passed = now - counted_from_;
  if (passed < min_count) return;
  interval_ = passed;
  for (const OwnPart& part : parts_) part.assigner->set_demand(part.holder, counted_, Cost{part.cost}, passed);
  counted_ = 0;
  counted_from_ = now;
}

std::optional<QuotaAction> QuotaBucket::next(Instant now) {
  if (is_abandoned(now)) return QuotaAction{.kind = ActionKind::abandon};
  if (!parts_.empty()) return next_assignment(now);
  if (!is_renewal_due(now)) return std::nullopt;
  return record_sent({.kind = admits_ ? ActionKind::allow_all : ActionKind::deny_all, .is_new = !sent_}, now);
}

std::optional<QuotaAction> QuotaBucket::next_assignment(Instant now) {
  const Tokens offered = min_over_parts([&](const OwnPart& part) { return part.assigner->offer(part.holder, now); });
  const bool is_active =
      sent_ && sent_->kind == ActionKind::token_bucket && now + times_.delivery <= sent_at_ + sent_->time_to_live;
  const bool too_much = is_active && is_excessive();
  const bool is_changed = !offered.is_empty() && (!is_active || too_much || is_worthwhile(offered));
  if (is_changed) return assign(offered, now);
  if (!too_much && !is_renewal_due(now)) return std::nullopt;
  if (too_much || !is_active) {
    return record_sent({.kind = ActionKind::deny_all, .is_new = !sent_ || sent_->kind != ActionKind::deny_all}, now);
  }
  QuotaAction renewal = *sent_;
  renewal.is_new = false;
  renewal = record_sent(renewal, now);
  const Instant until = now + renewal.time_to_live + times_.delivery;
  for (const OwnPart& part : parts_) part.assigner->extend(part.holder, until);
  return renewal;
}

// Converts units of the limit into requests.
QuotaBucket::Tokens QuotaBucket::tokens_of(const OwnPart& part, const QuotaAssigner::Share& share) noexcept {
  constexpr std::chrono::seconds longest = QuotaAssigner::max_fill;
  Tokens tokens{.burst = share.burst / part.cost};
  if (tokens.burst == 0) return tokens;
  tokens.per_fill = share.per_fill;
  tokens.fill = part.assigner->fill_interval() * part.cost;
  if (tokens.fill <= longest) return tokens;
  __extension__ using Wide = __int128;
  tokens.per_fill = static_cast<std::uint64_t>(Wide{tokens.per_fill} * longest.count() / tokens.fill.count());
  tokens.fill = longest;
  return tokens;
}

template <class ShareOf>
QuotaBucket::Tokens QuotaBucket::min_over_parts(const ShareOf& share_of) const {
  Tokens min = tokens_of(parts_.front(), share_of(parts_.front()));
  for (const OwnPart& part : std::span(parts_).subspan(1)) {
    const Tokens own = tokens_of(part, share_of(part));
    min.burst = std::min(min.burst, own.burst);
    if (own.is_at_least(10, min)) continue;
    min.per_fill = own.per_fill;
    min.fill = own.fill;
  }
  return min;
}

QuotaBucket::Tokens QuotaBucket::fair() const {
  return min_over_parts([](const OwnPart& part) { return part.assigner->fair(part.holder); });
}

QuotaBucket::Tokens QuotaBucket::current() const noexcept {
  return {.burst = sent_->max_tokens, .per_fill = sent_->tokens_per_fill, .fill = sent_->fill_interval};
}

bool QuotaBucket::is_excessive() const {
  const bool is_overdrawn =
      std::ranges::any_of(parts_, [](const OwnPart& part) { return part.assigner->is_overdrawn(); });
  return is_overdrawn && (!fair().is_at_least(10, current()) || fair().burst < current().burst);
}

bool QuotaBucket::is_worthwhile(const Tokens& offered) const {
  const Tokens fair = this->fair();
  const Tokens current = this->current();
  if (!fair.is_at_least(9, current)) return true;
  const bool is_raised = offered.is_at_least(11, current);
  const bool is_ample = 2 * offered.burst >= fair.burst || offered.burst >= current.burst;
  const bool is_fuller = offered.burst >= 2 * current.burst && offered.is_at_least(10, current);
  return (is_raised && is_ample) || is_fuller;
}

QuotaAction QuotaBucket::assign(const Tokens& tokens, Instant now) {
  const QuotaAction action = record_sent({.kind = ActionKind::token_bucket,
                                          .max_tokens = static_cast<std::uint32_t>(tokens.burst),
                                          .tokens_per_fill = static_cast<std::uint32_t>(tokens.per_fill),
                                          .fill_interval = tokens.fill},
                                         now);
  const Instant until = now + action.time_to_live + times_.delivery;
  for (const OwnPart& part : parts_) {
    part.assigner->assign(part.holder, share_of(part, tokens), now, until);
  }
  return action;
}

QuotaAssigner::Share QuotaBucket::share_of(const OwnPart& part, const Tokens& tokens) noexcept {
  __extension__ using Wide = unsigned __int128;
  const auto fill = static_cast<std::uint64_t>(tokens.fill.count());
  const auto own_fill = static_cast<std::uint64_t>(part.assigner->fill_interval().count());
  const Wide per_fill = (Wide{tokens.per_fill} * part.cost * own_fill + fill - 1) / fill;
  return {.burst = tokens.burst * part.cost, .per_fill = static_cast<std::uint64_t>(per_fill)};
}

QuotaAction QuotaBucket::record_sent(QuotaAction action, Instant now) {
  action.time_to_live = time_to_live();
  sent_ = action;
  sent_at_ = now;
  return action;
}

bool QuotaBucket::is_renewal_due(Instant now) const noexcept {
  return !sent_ || now >= sent_at_ + (sent_->time_to_live - times_.delivery) / 2;
}

bool QuotaBucket::is_abandoned(Instant now) const noexcept {
  const Duration silence =
      interval_ ? std::clamp(3 * *interval_, times_.min_silence, times_.max_silence) : times_.max_silence;
  return now >= used_at_ + times_.idle || now >= reported_at_ + silence;
}

std::chrono::seconds QuotaBucket::time_to_live() const noexcept {
  const Duration wanted = interval_.value_or(Duration::zero()) - times_.delivery;
  return std::clamp(std::chrono::floor<std::chrono::seconds>(wanted), times_.min_ttl, times_.max_ttl);
}

}  // namespace weir::frontend
