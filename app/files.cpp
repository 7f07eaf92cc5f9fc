#include "app/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <system_error>

namespace weir::app {
namespace {

tl::unexpected<Error> last_failure(const std::string& path) {
  return failure(path, std::generic_category().message(errno));
}

// A temporary file next to the target. The destructor removes it unless it was renamed.
class Draft {
 public:
  explicit Draft(const std::string& path) : name_(path + ".XXXXXX"), descriptor_(mkstemp(name_.data())) {}
  ~Draft() {
    if (descriptor_ < 0) return;
    close(descriptor_);
    unlink(name_.c_str());  // after a rename there is nothing to remove, and this fails harmlessly
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }

  [[nodiscard]] bool write(std::string_view text) const noexcept {
    while (!text.empty()) {
      const ssize_t written = ::write(descriptor_, text.data(), text.size());
      if (written < 0 && errno != EINTR) return false;
      if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    }
    // mkstemp creates files with mode 0600; reports and policies get the usual mode.
    const mode_t mask = umask(0);
    umask(mask);
    return fchmod(descriptor_, 0666U & ~mask) == 0 && fsync(descriptor_) == 0;
  }

  [[nodiscard]] bool put_in_place(const std::string& path, Existing existing) const noexcept {
    if (existing == Existing::replaced) return rename(name_.c_str(), path.c_str()) == 0;
    return link(name_.c_str(), path.c_str()) == 0;  // unlike rename, it fails if the file exists
  }

 private:
  std::string name_;
  int descriptor_;
};

bool is_device(const std::string& path) noexcept {
  struct stat found{};
  return stat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode);
}

// Writes directly to a device or a named pipe, which cannot be replaced by another file.
Result<void> write_through(const std::string& path, std::string_view text) {
  std::FILE* const file = std::fopen(path.c_str(), "we");
  if (file == nullptr) return last_failure(path);
  const bool all_written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) != 0 || !all_written) return last_failure(path);
  return {};
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t most) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), std::fclose);
  if (file == nullptr) return last_failure(path);
  std::string text(most + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) return last_failure(path);
  return text;
}

Result<void> write_file(const std::string& path, std::string_view text, Existing existing) {
  if (is_device(path)) return write_through(path, text);
  const Draft draft(path);
  if (!draft.is_open() || !draft.write(text)) return last_failure(path);
  if (draft.put_in_place(path, existing)) return {};
  if (errno == EEXIST && existing == Existing::rejected) return failure(path, "already exists; --force replaces it");
  return last_failure(path);
}

}  // namespace weir::app
