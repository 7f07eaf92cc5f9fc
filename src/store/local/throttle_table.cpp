// How an arrival time of CL.THROTTLE is stored in a cell, regardless of the numbers it was written under.
//
// A narrow cell has whole microseconds and 8,192-ths of one, rounded up: for N <= 8,192 no two N-ths map to the same
// 8,192-th, so nothing is lost. A wide cell has N-ths, and N. Read under another N, either form gives the smallest
// number of N-ths that maps to the same 8,192-th or a later one.
#include "store/local/throttle_table.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "core/algorithm/buckets.h"
#include "core/arithmetic.h"
#include "core/rule.h"
#include "table/cells.h"
#include "table/memory.h"
#include "table/packing.h"
#include "table/snapshot.h"
#include "weir/cost.h"

namespace weir::store {

inline constexpr unsigned finest_bits = table::NarrowPayload::small_bits;
inline constexpr std::int64_t finest = std::int64_t{1} << finest_bits;

// Converts N-ths to 8,192-ths, rounded up: at most 8,192 even for N > 8,192.
[[nodiscard]] [[gnu::always_inline]] inline std::int64_t to_finest(std::int64_t nths, std::int64_t n) noexcept {
  if (nths == 0) return 0;
  if (n <= finest) return (nths * finest + n - 1) / n;
  const auto divisor = static_cast<std::uint64_t>(n);
  return static_cast<std::int64_t>(((core::Wide{static_cast<std::uint64_t>(nths)} << finest_bits) + divisor - 1) /
                                   divisor);
}

// Converts 8,192-ths, at most 8,192 of them, back to N-ths.
[[nodiscard]] [[gnu::always_inline]] inline core::FineSpan from_finest(std::int64_t whole, std::int64_t parts,
                                                                       const core::Gcra::Limit& limit) noexcept {
  if (parts == 0) return {whole, 0};
  const core::Wide below = core::Wide{static_cast<std::uint64_t>(parts - 1)} * static_cast<std::uint64_t>(limit.count);
  const auto nths = static_cast<std::int64_t>(below >> finest_bits) + 1;
  return nths < limit.count ? core::FineSpan{whole, nths} : core::FineSpan{whole + 1, 0};
}

// The functions used_of() return how far the arrival time is ahead of now.

[[nodiscard]] [[gnu::always_inline]] inline core::FineSpan used_of(const table::NarrowPayload& payload,
                                                                   const core::Gcra::Limit& limit,
                                                                   std::int64_t now) noexcept {
  const std::int64_t ahead = payload.word_ahead(now);
  return from_finest(ahead >> finest_bits, ahead & (finest - 1), limit);
}

[[nodiscard]] inline core::FineSpan used_of(const table::WidePayload& payload, const core::Gcra::Limit& limit,
                                            std::int64_t now) noexcept {
  if (payload.dead(now)) return {};
  const auto nths = static_cast<std::int64_t>(payload.first);
  const auto n = static_cast<std::int64_t>(payload.second);
  if (n == limit.count) return {payload.time - now, nths};
  return from_finest(payload.time - now, to_finest(nths, n), limit);
}

// The functions set_used_if() have no branch on `condition`, which is unpredictable.

[[gnu::always_inline]] inline void set_used_if(bool condition, table::NarrowPayload& payload, core::FineSpan used,
                                               const core::Gcra::Limit& limit, std::int64_t now) noexcept {
  payload.set_word_ahead_if(condition, used.whole * finest + to_finest(used.nths, limit.count), now);
}

inline void set_used_if(bool condition, table::WidePayload& payload, core::FineSpan used,
                        const core::Gcra::Limit& limit, std::int64_t now) noexcept {
  if (!condition) return;
  payload = {now + used.whole, static_cast<std::uint64_t>(used.nths), static_cast<std::uint64_t>(limit.count)};
}

// Keeps the later of two arrival times.
inline void raise(table::WidePayload& payload, const table::NarrowPayload& by, std::int64_t now) noexcept {
  if (by.dead(now)) return;
  const core::FineSpan later{by.time(now), static_cast<std::int64_t>(by.small())};
  const auto reached = [&] {
    return core::FineSpan{
        payload.time, to_finest(static_cast<std::int64_t>(payload.first), static_cast<std::int64_t>(payload.second))};
  };
  if (!payload.dead(now) && later <= reached()) return;
  payload = {later.whole, static_cast<std::uint64_t>(later.nths), static_cast<std::uint64_t>(finest)};
}

// The cost must be from 1 to the burst.
template <class Payload>
[[gnu::always_inline]] inline core::Gcra::Charge charge(Payload& payload, const core::Gcra::Limit& limit, Cost cost,
                                                        std::int64_t now) noexcept {
  const core::FineSpan before = used_of(payload, limit, now);
  const core::FineSpan after = limit.sum(before, limit.worth(cost.units()));
  const bool admitted = after <= limit.fill;
  set_used_if(admitted, payload, after, limit, now);
  return {before, after, admitted};
}
namespace {

using core::Gcra;
using table::NarrowPayload;
using table::Slot;
using table::WidePayload;

// These rules define the layout of the tables. They have the longest time to fill, so that no arrival time is clamped
// when it is restored. A restored remainder of unknown scale is rounded up.
const core::Rule& narrow_rule() {
  static const core::Rule rule = core::compile(Limit::gcra({{1, Limit::max_duration}, 1}).value());
  return rule;
}

const core::Rule& wide_rule() {
  static const core::Rule rule = [] {
    constexpr std::int64_t count = finest + 1;
    constexpr Duration per{count * Limit::max_duration.count() - 1};  // coprime to the count: nothing to reduce
    return core::compile(Limit::gcra({{count, per}, 1}).value());
  }();
  return rule;
}

template <class Payload>
Decision decide_in(table::Table& table, table::Cells<Payload>& cells, const Slot& slot, const Gcra::Limit& limit,
                   Cost cost, std::int64_t now) noexcept {
  Payload& payload = cells.payload(slot);
  if (!table::can_charge(limit, cost)) {
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

// The most common case is a known key in its home bucket; the next most common is a new key.
Decision ThrottleTable::decide(const Gcra::Limit& limit, table::KeyHash key, Cost cost, Instant now) noexcept {
  const std::int64_t micros = core::micros(now);
  if (!table::can_charge(limit, cost))
    return decide_narrow(narrow_.find_or_claim(key, micros), limit, key, cost, micros);
  if (!table::fits_narrow(limit)) [[unlikely]]
    return decide_fine(limit, key, cost, micros);
  const table::Location location = narrow_.locate(key);
  auto& home = Narrow::bucket_at(location.home);
  const std::uint64_t first_tag = home.lock();
  const unsigned cell = home.find(Narrow::tag_of(key), first_tag);
  if (cell < home.cells) [[likely]] {
    const Gcra::Charge charged = charge(home.payload(cell), limit, cost, micros);
    home.unlock(first_tag);
    return Gcra::describe(limit, charged, micros);
  }
  if (narrow_.still_there(location)) [[likely]]
    return decide_narrow(narrow_.find_or_claim_from(location, micros), limit, key, cost, micros);
  home.unlock(first_tag);
  return decide_narrow(narrow_.find_or_claim(key, micros), limit, key, cost, micros);
}

// Decides in the narrow cell that was found or claimed, unless the key has a wide one.
Decision ThrottleTable::decide_narrow(const Slot& slot, const Gcra::Limit& limit, table::KeyHash key, Cost cost,
                                      std::int64_t now) noexcept {
  const bool known = !slot.fresh && !slot.overflowed;
  if (!known && wide_in_use()) {
    const Slot wide = wide_.find(key);
    if (wide.bucket != nullptr) {
      narrow_.give_up_if_fresh(slot);
      unlock(slot);
      return decide_in(*wide_table_, wide_, wide, limit, cost, now);
    }
    unlock(wide);
  }
  return decide_in(*narrow_table_, narrow_, slot, limit, cost, now);
}

// Decides in a wide cell, to which the key's narrow cell moves if it has one. If there is no room for a wide cell, a
// key with its own narrow cell keeps that, rounded up to 8,192-ths.
Decision ThrottleTable::decide_fine(const Gcra::Limit& limit, table::KeyHash key, Cost cost,
                                    std::int64_t now) noexcept {
  wide_in_use_.store(true, std::memory_order_relaxed);
  const Slot narrow = narrow_.find(key);
  Slot wide = wide_.find_or_claim(key, now);
  if (narrow.bucket != nullptr) {
    if (wide.overflowed) {
      unlock(wide);
      return decide_in(*narrow_table_, narrow_, narrow, limit, cost, now);
    }
    raise(Wide::payload(wide), Narrow::payload(narrow), now);
    if (!Wide::payload(wide).dead(now)) wide.fresh = false;
    narrow_.erase(narrow);
  }
  unlock(narrow);
  return decide_in(*wide_table_, wide_, wide, limit, cost, now);
}

void ThrottleTable::reset(table::KeyHash key) noexcept {
  const Slot narrow = narrow_.find(key);
  const Slot wide = wide_.find(key);
  if (narrow.bucket != nullptr) narrow_.erase(narrow);
  if (wide.bucket != nullptr) wide_.erase(wide);
  unlock(wide);
  unlock(narrow);
}

// Wide cells are saved last: a key that moves in the meantime is found there, and the last record wins.
Result<void> ThrottleTable::save(const std::filesystem::path& path, Instant now) {
  return table::save_together({{*narrow_table_, narrow_rule()}, {*wide_table_, wide_rule()}}, path, now);
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
