#include "observe/log_writer.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <limits>
#include <system_error>

namespace weir::observe {
namespace {

constexpr int poll_milliseconds = 100;

// Returns the size of the whole lines that a pipe accepts atomically, or of the first line if it is longer.
std::size_t next_piece(std::string_view lines) noexcept {
  if (lines.size() <= PIPE_BUF) return lines.size();
  const std::size_t last = lines.rfind('\n', PIPE_BUF - 1);
  if (last != std::string_view::npos) return last + 1;
  const std::size_t first = lines.find('\n');
  return first == std::string_view::npos ? lines.size() : first + 1;
}

// Other threads handle signals. SIGPIPE must not end the process: a pipe without a reader is a write error.
void block_signals() noexcept {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace

Result<LogFile> LogFile::open(const std::string& path) {
  if (path.empty()) return LogFile(STDERR_FILENO);
  // O_NONBLOCK: opening a pipe without a reader fails instead of blocking the start.
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0640);
  if (descriptor < 0) {
    return failure(path, "cannot open the log: " + std::generic_category().message(errno) +
                             "; its directory must exist and the file must be writable");
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

using std::chrono::steady_clock;

Result<std::unique_ptr<LogWriter>> LogWriter::start(const Options& options) {
  auto file = LogFile::open(options.path);
  if (!file) return tl::unexpected(file.error());
  return std::make_unique<LogWriter>(options, std::move(*file));
}

// Both buffers are reserved in advance, so that write() never allocates.
LogWriter::LogWriter(const Options& options, LogFile file)
    : options_(options), file_(std::move(file)), give_up_at_(std::numeric_limits<steady_clock::rep>::max()) {
  pending_.reserve(options.max_pending_bytes);
  writing_.reserve(options.max_pending_bytes);
  thread_ = std::thread([this] { run(); });
}

LogWriter::~LogWriter() {
  give_up_at_ = (steady_clock::now() + options_.grace).time_since_epoch().count();
  {
    const std::lock_guard guard(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void LogWriter::write(std::string_view line) noexcept {
  bool was_empty = false;
  {
    const std::lock_guard guard(mutex_);
    if (line.size() > options_.max_pending_bytes - pending_.size()) {
      dropped_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    was_empty = pending_.empty();
    pending_ += line;
  }
  if (was_empty) wake_.notify_one();
}

Result<void> LogWriter::reopen() {
  auto file = LogFile::open(options_.path);
  if (!file) return tl::unexpected(file.error());
  {
    const std::lock_guard guard(mutex_);
    reopened_.emplace(std::move(*file));
  }
  wake_.notify_one();
  return {};
}

void LogWriter::flush() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [&] { return !busy_ && pending_.empty() && !reopened_; });
}

void LogWriter::run() {
  block_signals();
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return stopping_ || !pending_.empty() || reopened_; });
    if (reopened_) {
      file_ = std::move(*reopened_);
      reopened_.reset();
    }
    if (pending_.empty() && stopping_) return;
    pending_.swap(writing_);
    busy_ = true;
    lock.unlock();
    write_out();
    lock.lock();
    busy_ = false;
    idle_.notify_all();
  }
}

void LogWriter::write_out() {
  const std::size_t written = file_.write(writing_, [this] { return gives_up(); });
  const auto lost = std::count(writing_.begin() + static_cast<std::ptrdiff_t>(written), writing_.end(), '\n');
  dropped_.fetch_add(static_cast<std::uint64_t>(lost), std::memory_order_relaxed);
  writing_.clear();
}

bool LogWriter::gives_up() const noexcept {
  return steady_clock::now().time_since_epoch().count() >= give_up_at_.load();
}

}  // namespace weir::observe
