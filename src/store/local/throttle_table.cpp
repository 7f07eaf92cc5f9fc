#include "store/local/throttle_table.h"

#include <cstdint>
#include <type_traits>
#include <utility>

#include "core/rule.h"
#include "core/select.h"
#include "table/snapshot.h"

namespace weir::store {
namespace {

using core::Gcra;
using table::WidePayload;

// What the table is laid out for: an N that needs wide cells, and the longest time to fill, so that no arrival time
// is clamped when it is read from a file.
const core::Rule& widest_rule() {
  static const core::Rule rule = [] {
    constexpr std::int64_t count = 8193;
    constexpr Duration per{count * Limit::longest.count() - 1};  // coprime to the count: nothing to reduce
    return core::compile(Limit::gcra({{count, per}, 1}).value());
  }();
  return rule;
}

// A payload that was written under these numbers is no empty one: N is at least 1.
[[gnu::always_inline]] inline core::ArrivalState state_of(const WidePayload& payload, const Gcra::Limit& limit,
                                                          std::int64_t now) noexcept {
  if (payload.second == static_cast<std::uint64_t>(limit.count)) [[likely]]
    return {payload.time, static_cast<std::int64_t>(payload.first)};
  if (payload.dead(now)) return {};
  return {payload.time + (payload.first > 0 ? 1 : 0), 0};
}

// For a cost of 1 to the burst. No branch depends on whether it is admitted: nobody could predict it.
[[gnu::always_inline]] inline Gcra::Charge charge(WidePayload& payload, const Gcra::Limit& limit, Cost cost,
                                                  std::int64_t now) noexcept {
  const core::FineSpan before = state_of(payload, limit, now).used(limit, now);
  const core::FineSpan after = limit.sum(before, limit.worth(cost.units()));
  const bool admitted = after <= limit.fill;
  const core::Choice charged(admitted);
  const auto choose = [&](std::int64_t written, std::uint64_t kept) {
    return static_cast<std::uint64_t>(charged.of(written, static_cast<std::int64_t>(kept)));
  };
  payload.time = charged.of(now + after.whole, payload.time);
  payload.first = choose(after.nths, payload.first);
  payload.second = choose(limit.count, payload.second);
  return {before, after, admitted};
}

bool can_charge(const Gcra::Limit& limit, Cost cost) noexcept {
  return cost.units() - 1 < limit.burst;
}

}  // namespace

ThrottleTable::ThrottleTable(std::unique_ptr<table::Table> table) : table_(std::move(table)) {
  table_->with(widest_rule(), [&]<class A, class Payload>(const core::RuleOf<A>&, table::Cells<Payload>& cells) {
    if constexpr (std::is_same_v<Payload, WidePayload>) cells_ = &cells;
  });
}

Result<std::unique_ptr<ThrottleTable>> ThrottleTable::create(std::size_t budget_bytes, table::HashKey hash_key) {
  auto table = table::Table::create(widest_rule(), budget_bytes, hash_key);
  if (!table) return tl::unexpected(table.error());
  return std::unique_ptr<ThrottleTable>(new ThrottleTable(std::move(*table)));
}

// The usual case is a known key in its home bucket.
Decision ThrottleTable::decide(const Gcra::Limit& limit, table::KeyHash key, Cost cost, Instant now) noexcept {
  if (can_charge(limit, cost)) [[likely]] {
    const table::Place place = cells_->locate(key);
    auto& home = Cells::bucket_at(place.home);
    const std::uint64_t first_tag = home.lock();
    const unsigned cell = home.find(Cells::tag_of(key), first_tag);
    if (cell < Cells::bucket_cells) [[likely]] {  // where a key was at home, its tag is its own
      const Gcra::Charge charged = charge(home.payload(cell), limit, cost, core::micros(now));
      home.unlock(first_tag);
      return Gcra::describe(limit, charged, core::micros(now));
    }
    home.unlock(first_tag);
  }
  return decide_any(limit, key, cost, now);
}

Decision ThrottleTable::decide_any(const Gcra::Limit& limit, table::KeyHash key, Cost cost, Instant now) noexcept {
  const table::Slot slot = cells_->find_or_claim(key, core::micros(now));
  WidePayload& payload = Cells::payload(slot);
  if (!can_charge(limit, cost)) {
    const core::ArrivalState state = state_of(payload, limit, core::micros(now));
    cells_->give_up_if_fresh(slot);
    unlock(slot);
    return Gcra::peek(limit, state, cost, now);
  }
  const Gcra::Charge charged = charge(payload, limit, cost, core::micros(now));
  if (!charged.admitted) cells_->give_up_if_fresh(slot);
  unlock(slot);
  if (slot.overflowed) table_->count_overflow();
  return Gcra::describe(limit, charged, core::micros(now));
}

void ThrottleTable::reset(table::KeyHash key, Instant now) noexcept {
  table_->reset(widest_rule(), key, now);
}

Result<void> ThrottleTable::save(const std::filesystem::path& path, Instant now) {
  return table::save(*table_, widest_rule(), path, now);
}

Result<std::unique_ptr<ThrottleTable>> ThrottleTable::restore(const std::filesystem::path& path,
                                                              std::size_t budget_bytes, Instant now) {
  auto table = table::restore(path, widest_rule(), budget_bytes, now);
  if (!table) return tl::unexpected(table.error());
  return std::unique_ptr<ThrottleTable>(new ThrottleTable(std::move(*table)));
}

}  // namespace weir::store
