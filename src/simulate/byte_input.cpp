#include "simulate/byte_input.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weir::simulate {
namespace {

constexpr std::size_t block_size = std::size_t{256} << 10;

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

std::string reason(int error) {
  return std::generic_category().message(error);
}

std::string_view as_text(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

Descriptor::~Descriptor() {
  if (closing_ == Closing::owned && number_ >= 0) ::close(number_);
}

Descriptor::Descriptor(Descriptor&& other) noexcept
    : number_(std::exchange(other.number_, -1)), closing_(other.closing_) {}

ByteInput::ByteInput(std::string name, Descriptor descriptor) noexcept
    : name_(std::move(name)), descriptor_(std::move(descriptor)) {}

Result<ByteInput> ByteInput::open(const std::string& path) {
  const bool is_stdin = path == "-";
  const int number = is_stdin ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (number < 0) {
    return failure(path, "cannot be opened: " + reason(errno) + "; give an access log, or - for standard input");
  }
  ByteInput input(is_stdin ? "standard input" : path,
                  Descriptor(number, is_stdin ? Descriptor::Closing::borrowed : Descriptor::Closing::owned));
  struct stat status {};
  if (::fstat(number, &status) == 0) {
    if (S_ISDIR(status.st_mode)) {
      return failure(path, "is a folder; give one of its files, or - and pipe several into it");
    }
    if (S_ISREG(status.st_mode)) input.total_ = static_cast<std::uint64_t>(status.st_size);
  }

  input.block_.resize(block_size);
  // A pipe may give its first bytes one at a time.
  while (input.pending_.size() < 8) {
    const auto more = input.read_raw(std::span(input.block_).subspan(input.pending_.size()));
    if (!more) return tl::unexpected(more.error());
    if (*more == 0) break;
    input.pending_ = {input.block_.data(), input.pending_.size() + *more};
  }
  const std::string_view beginning = as_text(input.pending_);
  for (const Compression& other : not_read) {
    if (beginning.starts_with(other.magic)) {
      return failure(input.name_, "is compressed with " + std::string(other.name) + ", and only gzip is read; use " +
                                      std::string(other.command) + " FILE | weir simulate POLICY --log -");
    }
  }
  if (beginning.starts_with(gzip_magic)) {
    input.gzip_ = GzipStream::make();
    if (!input.gzip_) return failure(input.name_, "cannot be decompressed: no memory for it");
  }
  return input;
}

Result<std::size_t> ByteInput::read(std::span<char> output) {
  if (gzip_) return read_gzip(output);
  if (pending_.empty()) return read_raw(std::as_writable_bytes(output));
  const std::size_t count = std::min(pending_.size(), output.size());
  std::memcpy(output.data(), pending_.data(), count);
  pending_ = pending_.subspan(count);
  return count;
}

Result<std::size_t> ByteInput::read_raw(std::span<std::byte> output) {
  while (true) {
    const ssize_t count = ::read(descriptor_.number(), output.data(), output.size());
    if (count >= 0) {
      consumed_ += static_cast<std::uint64_t>(count);
      return static_cast<std::size_t>(count);
    }
    if (errno != EINTR) {
      return failure(name_, "cannot be read beyond " + std::to_string(consumed_) + " bytes: " + reason(errno) +
                                "; what stands before is used");
    }
  }
}

// False at the end of the file.
Result<bool> ByteInput::refill() {
  const auto count = read_raw(block_);
  if (!count) return tl::unexpected(count.error());
  pending_ = {block_.data(), *count};
  return *count > 0;
}

Result<std::size_t> ByteInput::read_gzip(std::span<char> output) {
  while (gzip_->damage().empty()) {
    if (pending_.empty()) {
      const auto more = refill();
      if (!more) return tl::unexpected(more.error());
      if (!*more && gzip_->between_members()) return std::size_t{0};
      if (!*more) {
        return failure(name_, "is cut off: its gzip data ends in the middle, after " + std::to_string(consumed_) +
                                  " bytes; the whole lines before that are used. Get a complete copy");
      }
    }
    const auto step = gzip_->inflate(pending_, output);
    pending_ = pending_.subspan(step.consumed);
    if (step.produced > 0) return step.produced;
  }
  return failure(name_, "is damaged: its gzip data is wrong before byte " +
                            std::to_string(consumed_ - pending_.size()) + " (" + gzip_->damage() +
                            "); the whole lines before that are used. Get a good copy; gzip -t checks one");
}

}  // namespace weir::simulate
