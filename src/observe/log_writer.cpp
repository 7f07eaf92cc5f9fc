#include "observe/log_writer.h"

#include <algorithm>
#include <csignal>
#include <limits>
#include <utility>

namespace weir::observe {
namespace {

// Signals are for the threads that await them; and a pipe that nobody reads is an error to count, not to die of.
void block_signals() noexcept {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace

using std::chrono::steady_clock;

Result<std::unique_ptr<LogWriter>> LogWriter::start(const Options& options) {
  auto file = LogFile::open(options.path);
  if (!file) return tl::unexpected(file.error());
  return std::make_unique<LogWriter>(options, std::move(*file));
}

// Both texts have their memory from the start: a line is copied and nothing else.
LogWriter::LogWriter(const Options& options, LogFile file)
    : options_(options), file_(std::move(file)), give_up_at_(std::numeric_limits<steady_clock::rep>::max()) {
  waiting_.reserve(options.most_waiting);
  writing_.reserve(options.most_waiting);
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
    if (line.size() > options_.most_waiting - waiting_.size()) {
      dropped_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    was_empty = waiting_.empty();
    waiting_ += line;
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
  idle_.wait(lock, [&] { return !busy_ && waiting_.empty() && !reopened_; });
}

void LogWriter::run() {
  block_signals();
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return stopping_ || !waiting_.empty() || reopened_; });
    if (reopened_) {
      file_ = std::move(*reopened_);
      reopened_.reset();
    }
    if (waiting_.empty() && stopping_) return;
    waiting_.swap(writing_);
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
