// The snapshots of a process: a folder with one file per table (table/snapshot.h), all with the same hash key.
//
// Each file is replaced atomically. After an interrupted save, every file is either old or new, and the next start or
// save removes the temporary files. A folder is used by one process and one thread at a time.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/rule.h"
#include "table/hash_key.h"
#include "table/table.h"
#include "weir/result.h"
#include "weir/time.h"

namespace weir::store {

class SnapshotFolder {
 public:
  explicit SnapshotFolder(std::filesystem::path path) : path_(std::move(path)) {}

  [[nodiscard]] std::filesystem::path file(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> names() const;

  // Call before a save: creates the folder, accessible only to its owner.
  Result<void> prepare() const;

  // Call after a save: removes files whose names start with `prefix` and are not in `names`.
  void keep_only(std::string_view prefix, const std::set<std::string>& names) const;

  // Removes what an interrupted save left behind.
  void remove_temporaries() const;

 private:
  std::filesystem::path path_;
};

// The snapshots that a starting process finds; a missing folder counts as empty. An unusable file is reported as a
// problem and ignored as a whole.
class SavedStates {
 public:
  SavedStates(SnapshotFolder folder, Instant now);

  // The hash key of the files. If they differ, that of most files: the others are rejected. Unset without files.
  [[nodiscard]] const std::optional<table::HashKey>& hash_key() const noexcept { return hash_key_; }

  // Reads the states of that name, if any, into a new table that has the hash key. Returns false if the file was
  // rejected: then discard the table. `rule` is the one with the longest time to fill.
  [[nodiscard]] bool read_into(table::Table& fresh, const std::string& name, const core::Rule& rule);

  [[nodiscard]] const std::vector<std::string>& restored() const noexcept { return restored_; }
  [[nodiscard]] const std::vector<Error>& problems() const noexcept { return problems_; }

 private:
  SnapshotFolder folder_;
  Instant now_;
  std::optional<table::HashKey> hash_key_;
  std::set<std::string> usable_;
  std::vector<std::string> restored_;
  std::vector<Error> problems_;
};

}  // namespace weir::store
