// A table's states elsewhere: in a file, so that they survive a restart, and in another table.
//
// The file is versioned and checksummed in blocks, holds the hash key (so its mode is 0600) and is replaced
// whole. Its states do not depend on the numbers of the limit or on the table's layout, only on the algorithm
// and the window; on restore, a time beyond what the numbers allow is clamped.
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

// Decisions go on meanwhile; each state is written as it was at some instant during the call.
Result<void> save(Table& table, const core::Rule& rule, const std::filesystem::path& path, Instant now);

// Tables of the same algorithm, window and hash key, as if they were one. Where a key is in several, the last counts.
struct Part {
  Table& table;
  const core::Rule& rule;
};
Result<void> save_together(std::initializer_list<Part> parts, const std::filesystem::path& path, Instant now);

// A torn, damaged or foreign file is refused with what is wrong about it. States that a smaller budget has no
// room for are not lost: their consumers share states from then on (counted as overflowed).
Result<std::unique_ptr<Table>> restore(const std::filesystem::path& path, const core::Rule& rule,
                                       std::size_t budget_bytes, Instant now);

// The same into a table that is new and has the file's hash key. On an error the table is to be thrown away: it may
// have taken in some states.
Result<void> restore_into(Table& fresh, const core::Rule& rule, const std::filesystem::path& path, Instant now);

// Under which key the file's states are hashed.
Result<HashKey> saved_hash_key(const std::filesystem::path& path);

// For when new numbers need wider cells than the old table has. Brings every live state of `from` to `to`, which has
// the same algorithm and hash key. Nobody decides on either meanwhile. Shared overflow states come along; a state for
// which `to` has no room shares one there.
void move_states(Table& from, const core::Rule& from_rule, Table& to, const core::Rule& to_rule, Instant now);

}  // namespace weir::table
