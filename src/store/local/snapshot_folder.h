// The states of a process on disk: a folder with one file for each table (table/snapshot.h), all of one hash key.
//
// Each file is replaced whole, so a save that is cut short leaves every file old or new, and temporary files that are
// removed by the next start or save. One process at a time uses a folder, from one thread at a time.
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

  // Before a save: makes the folder, for its owner alone.
  Result<void> prepare() const;

  // After one: removes the files whose names begin with `prefix` and are not among `names`.
  void keep_only(std::string_view prefix, const std::set<std::string>& names) const;

  // What a save that was cut short left behind.
  void remove_temporaries() const;

 private:
  std::filesystem::path path_;
};

// What a start finds in such a folder; a folder that is not there is an empty one. What cannot be used is told as a
// problem, and nothing of it is used.
class SavedStates {
 public:
  SavedStates(SnapshotFolder folder, Instant now);

  // That of the files; of most of them, if they differ: the others are refused. None without files.
  [[nodiscard]] const std::optional<table::HashKey>& hash_key() const noexcept { return hash_key_; }

  // Reads the states of that name, if there are any, into a table that is new and has the hash key. False if the file
  // was refused: then the table is to be thrown away. `rule` is the one with the longest time to fill.
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
