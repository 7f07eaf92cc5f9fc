#include "simulate/log_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <system_error>
#include <utility>

#define ZLIB_CONST
#include <zlib.h>

namespace weir::simulate {
namespace {

constexpr std::size_t line_block = std::size_t{1} << 20;
constexpr std::size_t raw_block = std::size_t{256} << 10;
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

static_assert(line_block > 2 * LogSource::max_line_length, "a block must hold a line and a partial one");

struct Compression {
  std::string_view magic;
  std::string_view name;
  std::string_view command;
};

constexpr std::string_view gzip_magic = "\x1f\x8b";
constexpr std::array<Compression, 4> not_read{{{"\x28\xb5\x2f\xfd", "zstd", "zstd -dc"},
                                               {"BZh", "bzip2", "bzip2 -dc"},
                                               {"\xfd"
                                                "7zXZ",
                                                "xz", "xz -dc"},
                                               {"PK\x03\x04", "zip", "unzip -p"}}};

std::string system_reason() {
  return std::generic_category().message(errno);
}

}  // namespace

// The bytes of a file or of standard input (which it does not close), decompressed if they are gzip.
class LogSource::Bytes {
 public:
  Bytes(std::string name, int descriptor) : name_(std::move(name)), descriptor_(descriptor), block_(raw_block) {}
  ~Bytes() {
    if (is_gzip_) inflateEnd(&zlib_);
    if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  // Detects the type of the file.
  [[nodiscard]] Result<void> recognise();

  // Fills the front of `output` and returns the number of bytes, 0 only at the end. Must not be called after an error.
  [[nodiscard]] Result<std::size_t> read(std::span<char> output);

  [[nodiscard]] Progress progress() const noexcept { return {consumed_, total_}; }

 private:
  [[nodiscard]] Result<std::size_t> read_raw(std::span<char> output);
  [[nodiscard]] Result<std::size_t> read_gzip(std::span<char> output);
  [[nodiscard]] Result<std::size_t> damaged() const;

  const std::string name_;  // for messages
  const int descriptor_;
  std::optional<std::uint64_t> total_;
  std::uint64_t consumed_ = 0;
  std::vector<char> block_;   // raw bytes, read to detect the format or to be decompressed
  std::string_view pending_;  // the unused part of block_
  z_stream zlib_{};           // its address must not change
  bool is_gzip_ = false;
  bool is_between_members_ = false;  // a gzip member has just ended, so the data may end here
  bool is_damaged_ = false;
};

Result<void> LogSource::Bytes::recognise() {
  struct stat status{};
  if (::fstat(descriptor_, &status) == 0) {
    if (S_ISDIR(status.st_mode)) {
      return failure(name_, "is a directory; use one of its files, or - to pipe several");
    }
    if (S_ISREG(status.st_mode)) total_ = static_cast<std::uint64_t>(status.st_size);
  }
  while (pending_.size() < 8) {  // a pipe may deliver its first bytes one at a time
    const auto more = read_raw(std::span(block_).subspan(pending_.size()));
    if (!more) return tl::unexpected(more.error());
    if (*more == 0) break;
    pending_ = {block_.data(), pending_.size() + *more};
  }
  for (const Compression& other : not_read) {
    if (!pending_.starts_with(other.magic)) continue;
    return failure(name_, "is compressed with " + std::string(other.name) + ", but only gzip is supported; use " +
                              std::string(other.command) + " FILE | weir simulate POLICY --log -");
  }
  if (!pending_.starts_with(gzip_magic)) return {};
  constexpr int gzip_only = 16 + MAX_WBITS;
  is_gzip_ = inflateInit2(&zlib_, gzip_only) == Z_OK;
  if (!is_gzip_) return failure(name_, "cannot decompress: out of memory");
  return {};
}

Result<std::size_t> LogSource::Bytes::read(std::span<char> output) {
  if (is_gzip_) return read_gzip(output);
  if (pending_.empty()) return read_raw(output);
  const std::size_t count = pending_.copy(output.data(), output.size());
  pending_.remove_prefix(count);
  return count;
}

Result<std::size_t> LogSource::Bytes::read_raw(std::span<char> output) {
  ssize_t count = 0;
  do {
    count = ::read(descriptor_, output.data(), output.size());
  } while (count < 0 && errno == EINTR);
  if (count < 0) {
    return failure(name_, "read failed after " + std::to_string(consumed_) + " bytes: " + system_reason() +
                              "; the lines before that are used");
  }
  consumed_ += static_cast<std::uint64_t>(count);
  return static_cast<std::size_t>(count);
}

// Reads any number of concatenated gzip members, as `cat a.gz b.gz` and log rotation produce them. Zeros after the last
// member are padding, as in gzip itself. zlib's gzread() would silently ignore any trailing bytes.
Result<std::size_t> LogSource::Bytes::read_gzip(std::span<char> output) {
  zlib_.next_out = reinterpret_cast<Bytef*>(output.data());
  zlib_.avail_out = static_cast<uInt>(output.size());
  while (zlib_.avail_out == output.size()) {
    if (is_damaged_) return damaged();
    if (pending_.empty()) {
      const auto more = read_raw(block_);
      if (!more) return more;
      if (*more == 0 && is_between_members_) return std::size_t{0};
      if (*more == 0) {
        return failure(name_, "gzip data is truncated after " + std::to_string(consumed_) +
                                  " bytes; the complete lines before that are used; get a complete copy");
      }
      pending_ = {block_.data(), *more};
    }
    if (is_between_members_) {
      pending_.remove_prefix(std::min(pending_.find_first_not_of('\0'), pending_.size()));
      if (pending_.empty()) continue;
      inflateReset(&zlib_);
    }
    zlib_.next_in = reinterpret_cast<const Bytef*>(pending_.data());
    zlib_.avail_in = static_cast<uInt>(pending_.size());
    const int status = inflate(&zlib_, Z_NO_FLUSH);
    pending_.remove_prefix(pending_.size() - zlib_.avail_in);
    is_between_members_ = status == Z_STREAM_END;
    is_damaged_ = status != Z_STREAM_END && status != Z_OK && status != Z_BUF_ERROR;
  }
  return output.size() - zlib_.avail_out;
}

Result<std::size_t> LogSource::Bytes::damaged() const {
  return failure(name_, "gzip data is corrupt before byte " + std::to_string(consumed_ - pending_.size()) + " (" +
                            (zlib_.msg != nullptr ? zlib_.msg : "unreadable") +
                            "); the complete lines before that are used; get a good copy (gzip -t tests one)");
}

LogSource::LogSource(std::unique_ptr<Bytes> bytes) : bytes_(std::move(bytes)), block_(line_block) {}
LogSource::~LogSource() = default;
LogSource::LogSource(LogSource&&) noexcept = default;

Result<LogSource> LogSource::open(const std::string& path) {
  const bool is_stdin = path == "-";
  const int descriptor = is_stdin ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return failure(path, "cannot open: " + system_reason() + "; use an access log, or - for standard input");
  }
  auto bytes = std::make_unique<Bytes>(is_stdin ? "standard input" : path, descriptor);
  if (auto recognised = bytes->recognise(); !recognised) return tl::unexpected(recognised.error());
  return LogSource(std::move(bytes));
}

Progress LogSource::progress() const noexcept {
  return bytes_->progress();
}

std::optional<std::string_view> LogSource::next() {
  while (true) {
    const char* const begin = block_.data() + begin_;
    const void* const found = std::memchr(begin, '\n', end_ - begin_);
    if (found == nullptr) {
      if (refill()) continue;
      return last_line();
    }
    std::string_view line(begin, static_cast<std::size_t>(static_cast<const char*>(found) - begin));
    begin_ += line.size() + 1;
    ++line_number_;
    if (std::exchange(skipping_, false)) continue;
    if (accept(line)) return line;
  }
}

// Moves the partial line to the front of the block and reads more after it. Returns false at the end.
bool LogSource::refill() {
  if (ended_) return false;
  if (end_ - begin_ > max_line_length + 1) {  // one byte more is allowed for a CR
    if (!std::exchange(skipping_, true)) ++overlong_lines_;
  }
  if (skipping_) begin_ = end_;
  std::memmove(block_.data(), block_.data() + begin_, end_ - begin_);
  end_ -= std::exchange(begin_, 0);

  auto count = bytes_->read({block_.data() + end_, block_.size() - end_});
  if (!count) error_ = std::move(count.error());
  ended_ = !count || *count == 0;
  if (count) end_ += *count;
  return !ended_;
}

// Returns the text after the last line break, unless an error truncated it.
std::optional<std::string_view> LogSource::last_line() {
  std::string_view line(block_.data() + begin_, end_ - begin_);
  begin_ = end_;
  if (line.empty() || skipping_ || error_) return {};
  ++line_number_;
  if (!accept(line)) return {};
  return line;
}

// Strips a trailing CR and a byte order mark. Returns false if the line is skipped.
bool LogSource::accept(std::string_view& line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line_number_ == 1 && line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
  if (line.size() <= max_line_length) return !line.empty();
  ++overlong_lines_;
  return false;
}

}  // namespace weir::simulate
