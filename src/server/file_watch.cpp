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

}  // namespace

void FileWatch::add(const std::vector<fs::path>& files) {
  files_.insert(files_.end(), files.begin(), files.end());
  seen_ += look(files);
}

std::string FileWatch::look(const std::vector<fs::path>& files) {
  std::string all;
  for (const fs::path& file : files) {
    const std::string identity = identity_of(file);
    if (identity.empty()) return {};
    all += identity;
    std::error_code error;
    if (!fs::is_directory(file, error)) continue;
    for (const fs::path& inside : files_in(file)) all += inside.filename().string() + ' ' + identity_of(inside);
  }
  return all;
}

bool FileWatch::changed() {
  std::string now = look(files_);
  if (now.empty() || now == seen_) return false;
  seen_ = std::move(now);
  return true;
}

}  // namespace weir::server
