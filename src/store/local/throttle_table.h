// The states of CL.THROTTLE: key -> theoretical arrival time, in a name space of their own. Callable from any thread.
//
// The numbers come with each call and may change from one to the next, as in redis-cell: the arrival time stands as it
// was written, however far ahead that is under the new numbers. Under the same numbers it is exact; under others a
// remainder is kept to 1/8,192 of a microsecond.
//
// A key takes 16 bytes and the slack of the table. One that is charged at a rate of more than 8,192 requests per whole
// number of microseconds, in lowest terms, takes 32 from then on: it moves to a wide cell, in a table of its own on the
// same budget.
//
// Invariants.
// 1. A key is in one of the tables at most. It moves with both cells locked, the narrow one first, as everywhere.
// 2. Who finds it in no narrow cell looks for a wide one, with the narrow buckets still locked; not before
//    wide_in_use_ is set, which is done before a mover takes its first lock, and read after.
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

  // Hashes a key, and brings its state on its way into the cache.
  [[nodiscard]] table::KeyHash seek(std::string_view key) const noexcept {
    const table::KeyHash hash = narrow_table_->hash(key);
    narrow_.prefetch(hash);
    return hash;
  }

  Decision decide(const core::Gcra::Limit& limit, table::KeyHash key, Cost cost, Instant now) noexcept;
  void reset(table::KeyHash key) noexcept;

  [[nodiscard]] std::size_t bytes_used() const noexcept { return narrow_table_->bytes_used(); }  // both count there
  [[nodiscard]] std::uint64_t overflowed() const noexcept {
    return narrow_table_->overflowed() + wide_table_->overflowed();
  }

  // As table/snapshot.h says; decisions go on. A remainder rounds up one microsecond on the way.
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
