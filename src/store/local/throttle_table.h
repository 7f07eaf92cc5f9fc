// The states of CL.THROTTLE: key -> theoretical arrival time, in their own namespace. Callable from any thread.
//
// As in redis-cell, the numbers come with each call and may change: the arrival time stays as written, however far
// ahead it is under the new numbers. Under unchanged numbers it is exact; otherwise, to 1/8,192 of a microsecond.
//
// A key takes 16 bytes plus the slack of the table. A key charged at a rate of more than 8,192 requests per whole
// number of microseconds, in lowest terms, takes 32 bytes from then on: it moves to a wide cell in a second table on
// the same budget.
//
// Invariants:
// 1. A key is in at most one of the tables. It moves with both cells locked, the narrow one first, as everywhere.
// 2. A reader that finds no narrow cell looks for a wide one with the narrow buckets still locked, and only if
//    wide_in_use_ is set. A mover sets that flag before it takes its first lock; readers read it after taking theirs.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

#include "core/algorithm/buckets.h"
#include "table/cells.h"
#include "table/hash_key.h"
#include "table/packing.h"
#include "table/table.h"
#include "weir/cost.h"
#include "weir/decision.h"
#include "weir/result.h"
#include "weir/time.h"

namespace weir::store {

class ThrottleTable {
 public:
  static Result<std::unique_ptr<ThrottleTable>> create(std::size_t budget_bytes, table::HashKey hash_key);

  // Hashes a key and prefetches its state.
  [[nodiscard]] table::KeyHash seek(std::string_view key) const noexcept {
    const table::KeyHash hash = narrow_table_->hash(key);
    narrow_.prefetch(hash);
    return hash;
  }

  Decision decide(const core::Gcra::Limit& limit, table::KeyHash key, Cost cost, Instant now) noexcept;
  void reset(table::KeyHash key) noexcept;

  [[nodiscard]] std::size_t bytes_used() const noexcept { return narrow_table_->bytes_used(); }  // both tables
  [[nodiscard]] std::uint64_t overflowed() const noexcept {
    return narrow_table_->overflowed() + wide_table_->overflowed();
  }

  // See table/snapshot.h; does not block decisions. A remainder is rounded up by one microsecond.
  Result<void> save(const std::filesystem::path& path, Instant now);
  static Result<std::unique_ptr<ThrottleTable>> restore(const std::filesystem::path& path, std::size_t budget_bytes,
                                                        Instant now);

 private:
  using Narrow = table::Cells<table::NarrowPayload>;
  using Wide = table::Cells<table::WidePayload>;

  ThrottleTable(std::unique_ptr<table::Table> narrow, std::unique_ptr<table::Table> wide) noexcept;

  [[nodiscard]] bool wide_in_use() const noexcept { return wide_in_use_.load(std::memory_order_relaxed); }
  Decision decide_narrow(const table::Slot& slot, const core::Gcra::Limit& limit, table::KeyHash key, Cost cost,
                         std::int64_t now) noexcept;
  Decision decide_fine(const core::Gcra::Limit& limit, table::KeyHash key, Cost cost, std::int64_t now) noexcept;

  const std::unique_ptr<table::Table> narrow_table_;
  const std::unique_ptr<table::Table> wide_table_;
  Narrow& narrow_;
  Wide& wide_;
  std::atomic<bool> wide_in_use_ = false;
};

}  // namespace weir::store
