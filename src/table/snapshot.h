// Transfers a table's states: to a file, so that they survive a restart, and to another table.
//
// The file is versioned, checksummed in blocks, contains the hash key (so its mode is 0600) and is replaced atomically.
// Its states depend only on the algorithm and the window, not on the numbers of the limit or the table's layout; on
// restore, a time beyond what the numbers allow is clamped.
#pragma once

#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <memory>

#include "core/rule.h"
#include "table/table.h"
#include "weir/result.h"
#include "weir/time.h"

namespace weir::table {

// Does not block decisions; each state is written as it was at some instant during the call.
Result<void> save(Table& table, const core::Rule& rule, const std::filesystem::path& path, Instant now);

// Tables of the same algorithm, window and hash key, saved as one. If a key is in several, the last one wins.
struct Part {
  Table& table;
  const core::Rule& rule;
};
Result<void> save_together(std::initializer_list<Part> parts, const std::filesystem::path& path, Instant now);

// A truncated, damaged or foreign file is rejected with the reason. States without room in a smaller budget are not
// lost: their consumers share states from then on (counted as overflowed).
Result<std::unique_ptr<Table>> restore(const std::filesystem::path& path, const core::Rule& rule,
                                       std::size_t budget_bytes, Instant now);

// Restores into a new table with the file's hash key. On an error discard the table: it may contain some states.
Result<void> restore_into(Table& fresh, const core::Rule& rule, const std::filesystem::path& path, Instant now);

// The hash key of the file's states.
Result<HashKey> saved_hash_key(const std::filesystem::path& path);

// Moves every live state of `from` to `to`, which has the same algorithm and hash key: for new numbers that need wider
// cells. No decision may run on either table. Shared overflow states are moved, too; a state without room in `to`
// shares one there.
void move_states(Table& from, const core::Rule& from_rule, Table& to, const core::Rule& to_rule, Instant now);

}  // namespace weir::table
