#include "store/local/throttle_table.h"

#include <cstdint>
#include <utility>

#include "core/rule.h"
#include "store/local/throttle_state.h"
#include "table/snapshot.h"

namespace weir::store {
namespace {

using core::Gcra;
using table::NarrowPayload;
using table::Slot;
using table::WidePayload;

// What the tables are laid out for: the longest time to fill, so that no arrival time is clamped when it is read from a
// file, and there a remainder of nobody knows what rounds up.
const core::Rule& narrow_rule() {
  static const core::Rule rule = core::compile(Limit::gcra({{1, Limit::longest}, 1}).value());
  return rule;
}

const core::Rule& wide_rule() {
  static const core::Rule rule = [] {
    constexpr std::int64_t count = finest + 1;
    constexpr Duration per{count * Limit::longest.count() - 1};  // coprime to the count: nothing to reduce
    return core::compile(Limit::gcra({{count, per}, 1}).value());
  }();
  return rule;
}

bool can_charge(const Gcra::Limit& limit, Cost cost) noexcept {
  return cost.units() - 1 < limit.burst;
}

template <class Payload>
Decision decide_in(table::Table& table, table::Cells<Payload>& cells, const Slot& slot, const Gcra::Limit& limit,
                   Cost cost, std::int64_t now) noexcept {
  Payload& payload = cells.payload(slot);
  if (!can_charge(limit, cost)) {
    core::ArrivalState state;
    state.set_used(used_of(payload, limit, now), now);
    cells.give_up_if_fresh(slot);
    unlock(slot);
    return Gcra::peek(limit, state, cost, core::instant_at(now));
  }
  const Gcra::Charge charged = charge(payload, limit, cost, now);
  if (!charged.admitted) cells.give_up_if_fresh(slot);
  unlock(slot);
  if (slot.overflowed) table.count_overflow();
  return Gcra::describe(limit, charged, now);
}

}  // namespace

ThrottleTable::ThrottleTable(std::unique_ptr<table::Table> narrow, std::unique_ptr<table::Table> wide) noexcept
    : narrow_table_(std::move(narrow)),
      wide_table_(std::move(wide)),
      narrow_(narrow_table_->cells<NarrowPayload>()),
      wide_(wide_table_->cells<WidePayload>()) {}

Result<std::unique_ptr<ThrottleTable>> ThrottleTable::create(std::size_t budget_bytes, table::HashKey hash_key) {
  const auto budget = std::make_shared<table::Budget>(budget_bytes);
  auto narrow = table::Table::create(narrow_rule(), budget, hash_key);
  if (!narrow) return tl::unexpected(narrow.error());
  auto wide = table::Table::create(wide_rule(), budget, hash_key);
  if (!wide) return tl::unexpected(wide.error());
  return std::unique_ptr<ThrottleTable>(new ThrottleTable(std::move(*narrow), std::move(*wide)));
}

// The usual case is a known key in its home bucket, and the next a new one.
Decision ThrottleTable::decide(const Gcra::Limit& limit, table::KeyHash key, Cost cost, Instant now) noexcept {
  if (!can_charge(limit, cost) || !fits_narrow(limit)) return decide_seldom(limit, key, cost, now);
  const std::int64_t micros = core::micros(now);
  const table::Place place = narrow_.locate(key);
  auto& home = Narrow::bucket_at(place.home);
  const std::uint64_t first_tag = home.lock();
  const unsigned cell = home.find(Narrow::tag_of(key), first_tag);
  if (cell < home.cells && !wide_in_use()) [[likely]] {
    const Gcra::Charge charged = charge(home.payload(cell), limit, cost, micros);
    home.unlock(first_tag);
    return Gcra::describe(limit, charged, micros);
  }
  if (narrow_.still_there(place))
    return decide_narrow(narrow_.find_or_claim_from(place, micros), limit, key, cost, micros);
  home.unlock(first_tag);
  return decide_seldom(limit, key, cost, now);
}

// Any numbers, any cost.
Decision ThrottleTable::decide_seldom(const Gcra::Limit& limit, table::KeyHash key, Cost cost, Instant now) noexcept {
  const std::int64_t micros = core::micros(now);
  if (!fits_narrow(limit)) wide_in_use_.store(true, std::memory_order_relaxed);
  if (wide_in_use()) return decide_wide(limit, key, cost, micros);
  return decide_narrow(narrow_.find_or_claim(key, micros), limit, key, cost, micros);
}

Decision ThrottleTable::decide_narrow(const Slot& slot, const Gcra::Limit& limit, table::KeyHash key, Cost cost,
                                      std::int64_t now) noexcept {
  if (!wide_in_use()) return decide_in(*narrow_table_, narrow_, slot, limit, cost, now);
  narrow_.give_up_if_fresh(slot);
  unlock(slot);
  return decide_wide(limit, key, cost, now);
}

Decision ThrottleTable::decide_wide(const Gcra::Limit& limit, table::KeyHash key, Cost cost,
                                    std::int64_t now) noexcept {
  return decide_in(*wide_table_, wide_, lock_wide(key, now), limit, cost, now);
}

// The wide cell of a key, with what the narrow one had.
Slot ThrottleTable::lock_wide(table::KeyHash key, std::int64_t now) noexcept {
  const Slot left = narrow_.find(key);
  Slot slot = wide_.find_or_claim(key, now);
  if (left.bucket != nullptr) {
    raise(Wide::payload(slot), Narrow::payload(left), now);
    narrow_.erase(left);
    slot.fresh = false;
  }
  unlock(left);
  return slot;
}

void ThrottleTable::reset(table::KeyHash key, Instant now) noexcept {
  narrow_table_->reset(narrow_rule(), key, now);
  if (wide_in_use()) wide_table_->reset(wide_rule(), key, now);
}

void ThrottleTable::move_all(std::int64_t now) {
  narrow_.for_each(
      now,
      [&](table::KeyHash key, NarrowPayload& payload) {
        const Slot slot = wide_.find_or_claim(key, now);
        raise(Wide::payload(slot), std::exchange(payload, NarrowPayload(0, 0)), now);
        unlock(slot);
      },
      [] { return true; });
}

Result<void> ThrottleTable::save(const std::filesystem::path& path, Instant now) {
  if (!wide_in_use()) return table::save(*narrow_table_, narrow_rule(), path, now);
  move_all(core::micros(now));
  return table::save(*wide_table_, wide_rule(), path, now);
}

Result<std::unique_ptr<ThrottleTable>> ThrottleTable::restore(const std::filesystem::path& path,
                                                              std::size_t budget_bytes, Instant now) {
  const Result<table::HashKey> hash_key = table::saved_hash_key(path);
  if (!hash_key) return tl::unexpected(hash_key.error());
  auto made = create(budget_bytes, *hash_key);
  if (!made) return made;
  if (auto read = table::restore_into(*(*made)->narrow_table_, narrow_rule(), path, now); !read)
    return tl::unexpected(read.error());
  return made;
}

}  // namespace weir::store
