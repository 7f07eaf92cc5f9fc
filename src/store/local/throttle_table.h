// The states of CL.THROTTLE: key -> theoretical arrival time, in a name space of their own. Callable from any thread.
//
// The numbers come with each call and may change from one to the next, as in redis-cell: the arrival time stands as it
// was written, however far ahead that is under the new numbers. It is kept in whole microseconds and N-ths of one,
// together with N; read under another N, a remainder rounds up one microsecond. So a key takes 32 bytes and the slack
// of the table.
#pragma once

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

  [[nodiscard]] table::KeyHash hash(std::string_view key) const noexcept { return table_->hash(key); }

  // Brings the key's state on its way into the cache.
  void prefetch(table::KeyHash key) const noexcept { cells_->prefetch(key); }

  Decision decide(const core::Gcra::Limit& limit, table::KeyHash key, Cost cost, Instant now) noexcept;
  void reset(table::KeyHash key, Instant now) noexcept;

  [[nodiscard]] std::size_t bytes_used() const noexcept { return table_->bytes_used(); }
  [[nodiscard]] std::uint64_t overflowed() const noexcept { return table_->overflowed(); }

  // As table/snapshot.h says; decisions go on. A remainder rounds up one microsecond on the way.
  Result<void> save(const std::filesystem::path& path, Instant now);
  static Result<std::unique_ptr<ThrottleTable>> restore(const std::filesystem::path& path, std::size_t budget_bytes,
                                                        Instant now);

 private:
  using Cells = table::Cells<table::WidePayload>;

  explicit ThrottleTable(std::unique_ptr<table::Table> table);

  Decision decide_any(const core::Gcra::Limit& limit, table::KeyHash key, Cost cost, Instant now) noexcept;

  std::unique_ptr<table::Table> table_;
  Cells* cells_ = nullptr;  // of the table
};

}  // namespace weir::store
