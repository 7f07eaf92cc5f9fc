// weir::Engine: reserve, hold, settle, release, extend, report.
#include <algorithm>
#include <utility>

#include "embedded/engine_body.h"
#include "engine/receipt.h"
#include "limiter/receipt_ids.h"
#include "weir/engine.h"

namespace weir {
namespace {

using engine::ReceiptRequest;

core::ReceiptId id_of(std::string_view id) noexcept {
  return id.empty() ? core::ReceiptId{} : engine::receipt_id_of(id);
}

const std::string& name_of(const policy::Ruleset& ruleset, const engine::ReceiptOutcome& outcome) noexcept {
  return ruleset.limits[*outcome.limit].name;
}

void read_outcomes(Engine::Reservation& reservation, std::span<const engine::ReceiptOutcome> outcomes,
                   const policy::Ruleset& ruleset) {
  for (const engine::ReceiptOutcome& outcome : outcomes) {
    if (limiter::has_receipt(outcome.result)) {
      reservation.ends = std::min(reservation.ends.value_or(outcome.ends), outcome.ends);
    } else if (outcome.decision.admitted) {  // a shadow limit that denies opens no receipt
      reservation.not_kept.push_back(name_of(ruleset, outcome));
    }
  }
}

Engine::Settlement settlement_of(std::span<const engine::ReceiptOutcome> outcomes, const policy::Ruleset& ruleset) {
  Engine::Settlement settlement;
  for (const engine::ReceiptOutcome& outcome : outcomes) {
    settlement.limits.push_back({.limit = outcome.limit ? name_of(ruleset, outcome) : std::string(),
                                 .result = outcome.result,
                                 .decision = outcome.decision,
                                 .lost = outcome.lost,
                                 .ends = outcome.ends});
  }
  return settlement;
}

}  // namespace

Engine::Settlement::operator bool() const noexcept {
  const auto is_done = [](const LimitResult& each) { return each.result == ReceiptResult::done; };
  return !limits.empty() && std::ranges::all_of(limits, is_done);
}

Engine::Reservation Engine::Body::reserve(const Query& query, const ReceiptRequest& request) {
  Reservation failed;
  failed.verdict = embedded::VerdictAccess::no_memory();
  return evaluate([&](auto& batch) { batch.add(query, request); },
                  [](const auto& batch, const auto& names) {
                    Reservation reservation;
                    embedded::VerdictAccess::fill(reservation.verdict, batch, 0, names);
                    if (const engine::ReceiptParts* const receipt = batch.receipt(0)) {
                      receipt->append_to(reservation.receipt.bytes_);
                    }
                    if (reservation) read_outcomes(reservation, batch.receipt_outcomes(0), names->ruleset());
                    return reservation;
                  },
                  std::move(failed));
}

Engine::Settlement Engine::Body::settle(const Receipt& receipt, const ReceiptRequest& request) {
  const auto opened = engine::ReceiptParts::read(receipt.bytes_);
  if (!opened) return {};
  return evaluate(
      [&](auto& batch) { batch.add(*opened, request); },
      [](const auto& batch, const auto& names) { return settlement_of(batch.receipt_outcomes(0), names->ruleset()); },
      Settlement());
}

Engine::Reservation Engine::reserve(const Query& query, Duration lasts, std::string_view id) {
  return body_->reserve(
      query, {.action = ReceiptRequest::Action::reserve, .id = id_of(id), .lasts = std::max(lasts, Duration::zero())});
}

Engine::Reservation Engine::hold(const Query& query) {
  return body_->reserve(query, {.action = ReceiptRequest::Action::hold});
}

Engine::Settlement Engine::settle(const Receipt& receipt, Cost actual) {
  return body_->settle(receipt, {.action = ReceiptRequest::Action::settle, .actual = actual});
}

Engine::Settlement Engine::release(const Receipt& receipt) {
  return body_->settle(receipt, {.action = ReceiptRequest::Action::release});
}

Engine::Settlement Engine::extend(const Receipt& receipt, Duration lasts) {
  return body_->settle(receipt, {.action = ReceiptRequest::Action::extend, .lasts = std::max(lasts, Duration::zero())});
}

Engine::Settlement Engine::report(const Query& query, std::string_view id) {
  return body_->evaluate(
      [&](auto& batch) { batch.add(query, ReceiptRequest{.action = ReceiptRequest::Action::report, .id = id_of(id)}); },
      [](const auto& batch, const auto& names) { return settlement_of(batch.receipt_outcomes(0), names->ruleset()); },
      Settlement());
}

}  // namespace weir
