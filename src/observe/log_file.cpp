#include "observe/log_file.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <system_error>

namespace weir::observe {
namespace {

constexpr int poll_milliseconds = 100;

// Lines that a pipe takes whole, or the first one if it is longer.
std::size_t next_piece(std::string_view lines) noexcept {
  if (lines.size() <= PIPE_BUF) return lines.size();
  const std::size_t last = lines.rfind('\n', PIPE_BUF - 1);
  if (last != std::string_view::npos) return last + 1;
  const std::size_t first = lines.find('\n');
  return first == std::string_view::npos ? lines.size() : first + 1;
}

}  // namespace

Result<LogFile> LogFile::open(const std::string& path) {
  if (path.empty()) return LogFile(STDERR_FILENO);
  // O_NONBLOCK: a pipe without a reader is refused here instead of holding up the start.
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0640);
  if (descriptor < 0) {
    return failure(path, "the log cannot be opened: " + std::generic_category().message(errno) +
                             "; its folder has to be there, and the file writable");
  }
  return LogFile(descriptor);
}

LogFile::~LogFile() {
  if (descriptor_ > STDERR_FILENO) ::close(descriptor_);
}

std::size_t LogFile::write(std::string_view lines, const std::function<bool()>& gives_up) noexcept {
  std::size_t done = 0;
  while (done < lines.size()) {
    if (!wait(gives_up)) return done;
    const std::string_view rest = lines.substr(done);
    const ssize_t written = ::write(descriptor_, rest.data(), next_piece(rest));
    if (written > 0) {
      done += static_cast<std::size_t>(written);
    } else if (errno != EAGAIN && errno != EINTR) {
      return done;
    }
  }
  return done;
}

bool LogFile::wait(const std::function<bool()>& gives_up) const noexcept {
  pollfd entry{descriptor_, POLLOUT, 0};
  for (;;) {
    const int ready = ::poll(&entry, 1, poll_milliseconds);
    if (ready > 0) return (entry.revents & (POLLERR | POLLNVAL)) == 0;
    if (ready < 0 && errno != EINTR) return false;
    if (gives_up()) return false;
  }
}

}  // namespace weir::observe
