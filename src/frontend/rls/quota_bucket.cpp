#include "frontend/rls/quota_bucket.h"

#include <algorithm>

namespace weir::frontend {
namespace {

using Said = QuotaAction::Kind;

// Reports that come closer together count as one.
constexpr Duration min_count = std::chrono::milliseconds(250);

}  // namespace

bool QuotaBucket::Tokens::is_at_least(unsigned tenths, const Tokens& other) const noexcept {
  __extension__ using Wide = __int128;
  return Wide{per_fill} * other.fill.count() * 10 >= Wide{other.per_fill} * fill.count() * tenths;
}

QuotaBucket::QuotaBucket(bool admits, const QuotaTimes& times, Instant now)
    : times_(times), admits_(admits), heard_at_(now), used_at_(now), counted_from_(now) {}

QuotaBucket::QuotaBucket(std::span<const Part> parts, const QuotaTimes& times, Instant now)
    : QuotaBucket(false, times, now) {
  for (const Part& part : parts) parts_.push_back({part.assigner, part.assigner->join(), part.cost.units()});
}

QuotaBucket::~QuotaBucket() {
  for (const OwnPart& part : parts_) part.assigner->leave(part.holder);
}

void QuotaBucket::report(std::uint64_t requests, Instant now) {
  constexpr std::uint64_t most = std::uint64_t{1} << 53;
  heard_at_ = now;
  if (requests > 0) used_at_ = now;
  if (!has_begun_) {  // it tells of the bucket, and not of a time
    has_begun_ = true;
    counted_from_ = now;
    return;
  }
  counted_ = std::min(most, counted_ + std::min(most, requests));
  const Duration passed = now - counted_from_;
  if (passed < min_count) return;
  interval_ = passed;
  for (const OwnPart& part : parts_) part.assigner->set_demand(part.holder, counted_, Cost{part.cost}, passed);
  counted_ = 0;
  counted_from_ = now;
}

std::optional<QuotaAction> QuotaBucket::next(Instant now) {
  if (is_forgotten(now)) return QuotaAction{.kind = Said::abandon};
  if (!parts_.empty()) return next_assignment(now);
  if (!is_due(now)) return std::nullopt;
  return say({.kind = admits_ ? Said::allow_all : Said::deny_all, .is_new = !said_}, now);
}

std::optional<QuotaAction> QuotaBucket::next_assignment(Instant now) {
  const Tokens offered = least([&](const OwnPart& part) { return part.assigner->offer(part.holder, now); });
  const bool in_force =
      said_ && said_->kind == Said::token_bucket && now + times_.delivery <= said_at_ + said_->time_to_live;
  const bool too_much = in_force && has_too_much();
  const bool is_changed = !offered.is_nothing() && (!in_force || too_much || is_worth_it(offered));
  if (is_changed) return assign(offered, now);
  if (!too_much && !is_due(now)) return std::nullopt;
  if (too_much || !in_force) {
    return say({.kind = Said::deny_all, .is_new = !said_ || said_->kind != Said::deny_all}, now);
  }
  QuotaAction again = *said_;
  again.is_new = false;
  again = say(again, now);
  const Instant until = now + again.time_to_live + times_.delivery;
  for (const OwnPart& part : parts_) part.assigner->extend(part.holder, until);
  return again;
}

// In requests. Each costs the limit's own number of units, in the limit's own fill interval.
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
QuotaBucket::Tokens QuotaBucket::least(const ShareOf& share_of) const {
  Tokens least = tokens_of(parts_.front(), share_of(parts_.front()));
  for (const OwnPart& part : std::span(parts_).subspan(1)) {
    const Tokens own = tokens_of(part, share_of(part));
    least.burst = std::min(least.burst, own.burst);
    if (own.is_at_least(10, least)) continue;
    least.per_fill = own.per_fill;
    least.fill = own.fill;
  }
  return least;
}

QuotaBucket::Tokens QuotaBucket::fair() const {
  return least([](const OwnPart& part) { return part.assigner->fair(part.holder); });
}

QuotaBucket::Tokens QuotaBucket::has() const noexcept {
  return {.burst = said_->max_tokens, .per_fill = said_->tokens_per_fill, .fill = said_->fill_interval};
}

bool QuotaBucket::has_too_much() const {
  const bool is_overdrawn =
      std::ranges::any_of(parts_, [](const OwnPart& part) { return part.assigner->is_overdrawn(); });
  return is_overdrawn && (!fair().is_at_least(10, has()) || fair().burst < has().burst);
}

bool QuotaBucket::is_worth_it(const Tokens& offered) const {
  const Tokens fair = this->fair();
  const Tokens has = this->has();
  if (!fair.is_at_least(9, has)) return true;
  const bool is_raised = offered.is_at_least(11, has);
  const bool is_ample = 2 * offered.burst >= fair.burst || offered.burst >= has.burst;
  const bool is_fuller = offered.burst >= 2 * has.burst && offered.is_at_least(10, has);
  return (is_raised && is_ample) || is_fuller;
}

QuotaAction QuotaBucket::assign(const Tokens& tokens, Instant now) {
  const QuotaAction action = say({.kind = Said::token_bucket,
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

QuotaAction QuotaBucket::say(QuotaAction action, Instant now) {
  action.time_to_live = time_to_live();
  said_ = action;
  said_at_ = now;
  return action;
}

bool QuotaBucket::is_due(Instant now) const noexcept {
  return !said_ || now >= said_at_ + (said_->time_to_live - times_.delivery) / 2;
}

bool QuotaBucket::is_forgotten(Instant now) const noexcept {
  const Duration silence =
      interval_ ? std::clamp(3 * *interval_, times_.min_silence, times_.max_silence) : times_.max_silence;
  return now >= used_at_ + times_.idle || now >= heard_at_ + silence;
}

std::chrono::seconds QuotaBucket::time_to_live() const noexcept {
  const Duration wanted = interval_.value_or(Duration::zero()) - times_.delivery;
  return std::clamp(std::chrono::floor<std::chrono::seconds>(wanted), times_.min_ttl, times_.max_ttl);
}

}  // namespace weir::frontend
