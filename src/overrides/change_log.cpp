#include "overrides/change_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>

#include "text/yaml/problem.h"

namespace weir::overrides {
namespace {

tl::unexpected<Error> failed(const std::filesystem::path& path, std::string_view what) {
  return failure(path.string(), std::string(what) + ": " + std::generic_category().message(errno));
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// Syncs the entry of a new or renamed file.
bool sync_directory(const std::filesystem::path& path) {
  const int directory = ::open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return false;
  const bool synced = ::fsync(directory) == 0;
  ::close(directory);
  return synced;
}

Result<std::string> read_all(const std::filesystem::path& path, int file) {
  struct stat status{};
  if (::fstat(file, &status) != 0) return failed(path, "cannot be read");
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t read = 0;
  while (read < text.size()) {
    const ssize_t more = ::pread(file, text.data() + read, text.size() - read, static_cast<off_t>(read));
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) return failed(path, "cannot be read");
    if (more == 0) break;
    read += static_cast<std::size_t>(more);
  }
  text.resize(read);
  return text;
}

std::string lines_of(std::span<const Change> changes) {
  std::string lines;
  for (const Change& change : changes) lines += change_line(change);
  return lines;
}

}  // namespace

ChangeLog::~ChangeLog() {
  if (file_ >= 0) ::close(file_);
}

Result<ChangeLog> ChangeLog::open(std::filesystem::path path, const std::function<void(const Change&)>& on_change) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return failed(path, "cannot be opened");
  ChangeLog log(std::move(path), file);
  const auto text = read_all(log.path_, file);
  if (!text) return tl::unexpected(text.error());
  std::string_view rest = *text;
  for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    const auto change = read_change(rest.substr(0, end));
    if (!change) {
      return failure(log.path_.string() + ":" + std::to_string(log.lines_ + 1),
                     "invalid line; restore the file from a backup, or remove the line to start without it");
    }
    on_change(*change);
    ++log.lines_;
    log.size_ += end + 1;
    rest.remove_prefix(end + 1);
  }
  if (!rest.empty() && ::ftruncate(file, static_cast<off_t>(log.size_)) != 0) {
    return failed(log.path_, "cannot be truncated to its last complete line");
  }
  if (!sync_directory(log.path_)) return failed(log.path_, "cannot be synced");
  return log;
}

Result<void> ChangeLog::append(std::span<const Change> changes) {
  const std::string lines = lines_of(changes);
  if (!write_all(file_, lines) || ::fdatasync(file_) != 0) {
    auto error = failed(path_, "cannot be written");
    (void)!::ftruncate(file_, static_cast<off_t>(size_));  // the error is reported already
    return error;
  }
  size_ += lines.size();
  lines_ += changes.size();
  return {};
}

Result<void> ChangeLog::rewrite(std::span<const Change> changes) {
  const std::filesystem::path aside = path_.string() + ".new";
  const int file = ::open(aside.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return failed(aside, "cannot be written");
  const std::string lines = lines_of(changes);
  if (!write_all(file, lines) || ::fsync(file) != 0 || ::rename(aside.c_str(), path_.c_str()) != 0) {
    auto error = failed(aside, "cannot be written");
    ::close(file);
    ::unlink(aside.c_str());
    return error;
  }
  ::close(file_);
  file_ = file;
  size_ = lines.size();
  lines_ = changes.size();
  if (!sync_directory(path_)) return failed(path_, "cannot be synced");
  return {};
}

}  // namespace weir::overrides
