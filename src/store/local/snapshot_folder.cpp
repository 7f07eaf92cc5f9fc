#include "store/local/snapshot_folder.h"

#include <algorithm>
#include <map>
#include <system_error>
#include <utility>

#include "table/snapshot.h"

namespace weir::store {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view suffix = ".states";
constexpr std::size_t temporary_letters = 7;  // a dot and six letters, the suffix of a file being written

// The names of the regular files in a folder; empty if it cannot be read.
std::vector<std::string> files_in(const fs::path& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->is_regular_file(ignored)) files.push_back(at->path().filename().string());
  }
  std::ranges::sort(files);
  return files;
}

void remove_file(const fs::path& file) {
  std::error_code ignored;  // the file stays until the next save
  fs::remove(file, ignored);
}

}  // namespace

fs::path SnapshotFolder::file(std::string_view name) const {
  return path_ / (std::string(name) + std::string(suffix));
}

std::vector<std::string> SnapshotFolder::names() const {
  std::vector<std::string> names;
  for (const std::string& file : files_in(path_)) {
    if (file.ends_with(suffix)) names.push_back(file.substr(0, file.size() - suffix.size()));
  }
  return names;
}

Result<void> SnapshotFolder::prepare() const {
  std::error_code error;
  const bool is_new = fs::create_directories(path_, error);
  if (!error && is_new) fs::permissions(path_, fs::perms::owner_all, error);
  if (error) {
    return failure(path_.string(),
                   "cannot be created: " + error.message() + "; create it and make it writable for this user");
  }
  remove_temporaries();
  return {};
}

void SnapshotFolder::keep_only(std::string_view prefix, const std::set<std::string>& names) const {
  for (const std::string& name : this->names()) {
    if (name.starts_with(prefix) && !names.contains(name)) remove_file(file(name));
  }
}

void SnapshotFolder::remove_temporaries() const {
  for (const std::string& file : files_in(path_)) {
    if (file.size() <= temporary_letters) continue;
    const std::string_view stem(file.data(), file.size() - temporary_letters);
    if (stem.ends_with(suffix) && file[stem.size()] == '.') remove_file(path_ / file);
  }
}

SavedStates::SavedStates(SnapshotFolder folder, Instant now) : folder_(std::move(folder)), now_(now) {
  folder_.remove_temporaries();
  std::map<table::HashKey, std::vector<std::string>> by_key;
  for (const std::string& name : folder_.names()) {
    const auto key = table::saved_hash_key(folder_.file(name));
    if (key) {
      by_key[*key].push_back(name);
    } else {
      problems_.push_back(key.error());
    }
  }
  const auto most = std::ranges::max_element(by_key, {}, [](const auto& entry) { return entry.second.size(); });
  if (most == by_key.end()) return;
  hash_key_ = most->first;
  for (const auto& [key, names] : by_key) {
    for (const std::string& name : names) {
      if (key == most->first) {
        usable_.insert(name);
      } else {
        problems_.push_back(
            {folder_.file(name).string(),
             "was saved with a different hash key from the other snapshots: delete it to start without its "
             "states"});
      }
    }
  }
}

bool SavedStates::read_into(table::Table& fresh, const std::string& name, const core::Rule& rule) {
  if (!usable_.contains(name)) return true;
  if (auto read = table::restore_into(fresh, rule, folder_.file(name), now_); !read) {
    problems_.push_back(std::move(read.error()));
    return false;
  }
  restored_.push_back(name);
  return true;
}

}  // namespace weir::store
