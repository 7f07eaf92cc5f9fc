#include "engine/verdict.h"

#include <algorithm>

#include "core/arithmetic.h"

namespace weir {

std::string_view name_of(Reason reason) noexcept {
  switch (reason) {
    case Reason::not_evaluated:
      return "not_evaluated";
    case Reason::uncovered:
      return "uncovered";
    case Reason::shadow:
      return "shadow";
    case Reason::exempt:
      return "exempt";
    case Reason::within:
      return "within";
    case Reason::warned:
      return "warned";
    case Reason::exceeded:
      return "exceeded";
    case Reason::blocked:
      return "blocked";
    case Reason::key_missing:
      return "key_missing";
    case Reason::banned:
      return "banned";
    case Reason::too_many_limits:
      return "too_many_limits";
    case Reason::needs_receipt:
      return "needs_receipt";
    case Reason::reserve_too_large:
      return "reserve_too_large";
    case Reason::store_unavailable:
      return "store_unavailable";
    case Reason::no_memory:
      return "no_memory";
    case Reason::blocked_by_operator:
      return "blocked";
  }
  return "unknown";
}

namespace engine {
namespace {

// True if `a` has less remaining than `b`, each relative to its size.
bool is_tighter(const Decision& a, const Decision& b) noexcept {
  using core::Wide;
  return Wide{a.remaining} * b.limit < Wide{b.remaining} * a.limit;
}

}  // namespace

Deniers deniers_of(const LiveOutcomes& outcomes) noexcept {
  Deniers deniers;
  for (std::size_t c = 0; c < outcomes.size(); ++c) {
    if (outcomes[c].decision.admitted) continue;
    ++deniers.count;
    deniers.last = c;
  }
  return deniers;
}

bool waits_longer(const std::optional<Duration>& a, const std::optional<Duration>& b) noexcept {
  if (!b) return false;
  return !a || *a > *b;
}

void deny_for_block(Decision& decision, const std::optional<Duration>& block_wait) noexcept {
  if (decision.admitted) decision.retry_after = block_wait;
  decision.admitted = false;
  begin_block(decision, block_wait);
}

void begin_block(Decision& decision, const std::optional<Duration>& block_wait) noexcept {
  if (waits_longer(block_wait, decision.retry_after)) decision.retry_after = block_wait;
  decision.reset_after = std::max(decision.reset_after, block_wait.value_or(Duration::zero()));
  decision.remaining = 0;
}

Verdict admitted_verdict(const LiveOutcomes& outcomes, Reason reason, std::size_t warned) noexcept {
  Verdict verdict;
  verdict.admitted = true;
  verdict.reason = reason;
  const Outcome* decides = nullptr;
  for (std::size_t c = 0; c < outcomes.size(); ++c) {
    const Outcome& outcome = outcomes[c];
    verdict.delay = std::max(verdict.delay, outcome.decision.delay);
    const bool is_deciding =
        reason == Reason::warned ? c == warned : decides == nullptr || is_tighter(outcome.decision, decides->decision);
    if (is_deciding) decides = &outcome;
  }
  if (decides == nullptr) return verdict;
  verdict.limit = decides->limit;
  verdict.decision = decides->decision;
  return verdict;
}

Verdict denied_verdict(const LiveOutcomes& outcomes, Reason reason, std::uint32_t outright) noexcept {
  Verdict verdict;
  verdict.admitted = false;
  verdict.reason = reason;
  if (is_outright(reason)) {
    const bool has_limit = reason != Reason::too_many_limits && reason != Reason::blocked_by_operator;
    verdict.limit = has_limit ? outright : Verdict::no_limit;
    verdict.decision.retry_after.reset();
    verdict.retry_after.reset();
    return verdict;
  }
  for (std::size_t c = 0; c < outcomes.size(); ++c) {
    const Outcome& outcome = outcomes[c];
    if (outcome.decision.admitted) continue;
    if (verdict.limit != Verdict::no_limit && !waits_longer(outcome.decision.retry_after, verdict.retry_after))
      continue;
    verdict.limit = outcome.limit;
    verdict.decision = outcome.decision;
    verdict.retry_after = outcome.decision.retry_after;
  }
  return verdict;
}

}  // namespace engine
}  // namespace weir
