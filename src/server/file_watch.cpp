#include "server/file_watch.h"

#include <sys/stat.h>

#include <algorithm>
#include <system_error>

namespace weir::server {
namespace {

namespace fs = std::filesystem;

// Empty: it cannot be looked at.
std::string identity_of(const fs::path& file) {
  struct stat found {};
  if (::stat(file.c_str(), &found) != 0) return {};
  std::string text;
  for (const auto number : {static_cast<long long>(found.st_dev), static_cast<long long>(found.st_ino),
                            static_cast<long long>(found.st_size), static_cast<long long>(found.st_mtim.tv_sec),
                            static_cast<long long>(found.st_mtim.tv_nsec)}) {
    text += std::to_string(number) + ' ';
  }
  return text;
}

std::vector<fs::path> files_in(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    files.push_back(entry->path());
  }
  std::ranges::sort(files);
  return files;
}

// With what is in it, if it is a directory.
std::string look(const fs::path& file) {
  std::string all = identity_of(file);
  std::error_code error;
  if (all.empty() || !fs::is_directory(file, error)) return all;
  for (const fs::path& inside : files_in(file)) all += inside.filename().string() + ' ' + identity_of(inside);
  return all;
}

}  // namespace

void FileWatch::add(const std::vector<fs::path>& files) {
  for (const fs::path& file : files) files_.push_back({file, look(file)});
}

bool FileWatch::changed() {
  bool any = false;
  for (Watched& one : files_) {
    std::string now = look(one.file);
    if (now.empty() || now == one.seen) continue;
    one.seen = std::move(now);
    any = true;
  }
  return any;
}

}  // namespace weir::server
