// The states of CL.THROTTLE: key -> theoretical arrival time, in a name space of their own. Callable from any thread.
//
// The numbers come with each call and may change from one to the next, as in redis-cell: the arrival time stands as it
// was written, however far ahead that is under the new numbers. Under the same numbers it is exact; under others a
// remainder is kept to 1/8,192 of a microsecond.
//
// A key takes 16 bytes and the slack of the table. With the first rate that is more than 8,192 requests per whole
// number of microseconds, in lowest terms, 32 bytes: then states are in wide cells, and each key moves there when it is
// asked for.
//
// Invariants.
// 1. Once wide_in_use_ is set, no narrow cell is written any more: who writes one looks at it under the cell's lock.
// 2. A key moves with its narrow cell and its wide one both locked, in this order. So nobody finds it in neither.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

#include "core/algorithm/gcra.h"
#include "table/cells.h"
#include "table/hash_key.h"
#include "table/payload.h"
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
    wide_in_use() ? wide_.prefetch(hash) : narrow_.prefetch(hash);
    return hash;
  }

  Decision decide(const core::Gcra::Limit& limit, table::KeyHash key, Cost cost, Instant now) noexcept;
  void reset(table::KeyHash key, Instant now) noexcept;

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
  Decision decide_seldom(const core::Gcra::Limit& limit, table::KeyHash key, Cost cost, Instant now) noexcept;
  Decision decide_narrow(const table::Slot& slot, const core::Gcra::Limit& limit, table::KeyHash key, Cost cost,
                         std::int64_t now) noexcept;
  Decision decide_wide(const core::Gcra::Limit& limit, table::KeyHash key, Cost cost, std::int64_t now) noexcept;
  [[nodiscard]] table::Slot lock_wide(table::KeyHash key, std::int64_t now) noexcept;
  void move_all(std::int64_t now);

  const std::unique_ptr<table::Table> narrow_table_;
  const std::unique_ptr<table::Table> wide_table_;
  Narrow& narrow_;
  Wide& wide_;
  std::atomic<bool> wide_in_use_ = false;
};

}  // namespace weir::store
