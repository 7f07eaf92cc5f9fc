#include "table/block_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include "table/siphash.h"

namespace weir::table {
namespace {

constexpr std::size_t block_size = std::size_t{64} << 10;

// Not a secret: the checksum detects damage, not tampering.
std::uint64_t checksum(std::uint64_t block, const std::byte* bytes, std::size_t size) noexcept {
  return siphash13({block, 0x77656972}, {reinterpret_cast<const char*>(bytes), size});
}

std::string reason() {
  return std::error_code(errno, std::generic_category()).message();
}

}  // namespace

BlockWriter::BlockWriter(std::filesystem::path path, std::filesystem::path temporary, int file) noexcept
    : path_(std::move(path)), temporary_(std::move(temporary)), file_(file) {}

BlockWriter::BlockWriter(BlockWriter&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      file_(std::exchange(other.file_, -1)),
      blocks_(other.blocks_),
      pending_(std::move(other.pending_)) {}

BlockWriter::~BlockWriter() {
  if (file_ < 0) return;
  close(file_);
  unlink(temporary_.c_str());
}

Result<BlockWriter> BlockWriter::create(const std::filesystem::path& path) {
  std::string temporary = path.string() + ".XXXXXX";
  const int file = mkostemp(temporary.data(), O_CLOEXEC);  // mode 0600
  if (file < 0) return failure(path.string(), "cannot create a temporary file next to it: " + reason());
  return BlockWriter(path, temporary, file);
}

tl::unexpected<Error> BlockWriter::system_failure(const char* doing) const {
  return failure(path_.string(), std::string(doing) + " failed: " + reason());
}

Result<void> BlockWriter::write_all(const void* bytes, std::size_t size) {
  const char* at = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t written = write(file_, at, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_failure("writing");
    at += written;
    size -= static_cast<std::size_t>(written);
  }
  return {};
}

Result<void> BlockWriter::write_block(const std::byte* bytes, std::size_t size) {
  const auto length = static_cast<std::uint32_t>(size);
  const std::uint64_t sum = checksum(blocks_++, bytes, size);
  if (auto done = write_all(&length, sizeof length); !done) return done;
  if (auto done = write_all(bytes, size); !done) return done;
  return write_all(&sum, sizeof sum);
}

Result<void> BlockWriter::write_full_blocks() {
  std::size_t at = 0;
  for (; pending_.size() - at >= block_size; at += block_size) {
    if (auto done = write_block(pending_.data() + at, block_size); !done) return done;
  }
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(at));
  return {};
}

Result<void> BlockWriter::commit() {
  if (auto done = write_full_blocks(); !done) return done;
  if (!pending_.empty()) {
    if (auto done = write_block(pending_.data(), pending_.size()); !done) return done;
  }
  if (auto done = write_block(nullptr, 0); !done) return done;
  if (fsync(file_) != 0) return system_failure("fsync");
  if (rename(temporary_.c_str(), path_.c_str()) != 0) return system_failure("rename");
  close(std::exchange(file_, -1));
  // The rename is durable only once the directory is synced.
  const std::filesystem::path folder = path_.has_parent_path() ? path_.parent_path() : ".";
  const int opened = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened >= 0) {
    fsync(opened);
    close(opened);
  }
  return {};
}

BlockReader::BlockReader(std::filesystem::path path, int file) noexcept : path_(std::move(path)), file_(file) {}

BlockReader::BlockReader(BlockReader&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      blocks_(other.blocks_),
      block_(std::move(other.block_)),
      at_(other.at_),
      ended_(other.ended_) {}

BlockReader::~BlockReader() {
  if (file_ >= 0) close(file_);
}

Result<BlockReader> BlockReader::open(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return failure(path.string(), "cannot be opened: " + reason());
  return BlockReader(path, file);
}

tl::unexpected<Error> BlockReader::damaged(const std::string& how) const {
  return failure(path_.string(), how + ": delete it to start without its states, or restore it from a backup");
}

Result<void> BlockReader::read_all(void* into, std::size_t size) {
  char* at = static_cast<char*>(into);
  while (size > 0) {
    const ssize_t got = read(file_, at, size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failure(path_.string(), "cannot be read: " + reason());
    if (got == 0) return damaged("is truncated");
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return {};
}

Result<void> BlockReader::next_block() {
  std::uint32_t length = 0;
  if (auto done = read_all(&length, sizeof length); !done) return done;
  if (length > block_size) return damaged("is damaged or not a Weir snapshot");
  block_.resize(length);
  at_ = 0;
  if (auto done = read_all(block_.data(), length); !done) return done;
  std::uint64_t sum = 0;
  if (auto done = read_all(&sum, sizeof sum); !done) return done;
  if (sum != checksum(blocks_++, block_.data(), length)) return damaged("is damaged or not a Weir snapshot");
  ended_ = length == 0;
  return {};
}

Result<void> BlockReader::get_bytes(void* into, std::size_t size) {
  char* out = static_cast<char*>(into);
  while (size > 0) {
    if (at_ == block_.size()) {
      if (ended_) return damaged("is truncated");
      if (auto done = next_block(); !done) return done;
      continue;
    }
    const std::size_t piece = std::min(size, block_.size() - at_);
    std::memcpy(out, block_.data() + at_, piece);
    at_ += piece;
    out += piece;
    size -= piece;
  }
  return {};
}

Result<void> BlockReader::expect_end() {
  if (at_ == block_.size() && !ended_) {
    if (auto done = next_block(); !done) return done;
  }
  char more = 0;
  if (!ended_ || read(file_, &more, 1) != 0) return damaged("has trailing data");
  return {};
}

}  // namespace weir::table
