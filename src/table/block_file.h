// A file written and read as a stream of checksummed blocks.
//
// Each block is its length (4 bytes), its bytes and its checksum (8 bytes); a block of length 0 ends the stream. The
// checksum covers the block's number, so that blocks cannot be reordered. Nothing is returned unverified.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <type_traits>
#include <vector>

#include "weir/result.h"

namespace weir::table {

// Writes to a temporary file that replaces `path` on commit(); without a commit it is removed.
class BlockWriter {
 public:
  static Result<BlockWriter> create(const std::filesystem::path& path);
  BlockWriter(BlockWriter&& other) noexcept;
  BlockWriter& operator=(BlockWriter&&) = delete;
  ~BlockWriter();

  // Buffers in memory; write_full_blocks() writes to the file.
  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    pending_.insert(pending_.end(), bytes, bytes + sizeof value);
  }

  Result<void> write_full_blocks();

  // Ends the stream, syncs it to disk and replaces `path`.
  Result<void> commit();

 private:
  BlockWriter(std::filesystem::path path, std::filesystem::path temporary, int file) noexcept;
  Result<void> write_block(const std::byte* bytes, std::size_t size);
  Result<void> write_all(const void* bytes, std::size_t size);
  [[nodiscard]] tl::unexpected<Error> system_failure(const char* doing) const;

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int file_ = -1;
  std::uint64_t blocks_ = 0;
  std::vector<std::byte> pending_;
};

class BlockReader {
 public:
  static Result<BlockReader> open(const std::filesystem::path& path);
  BlockReader(BlockReader&& other) noexcept;
  BlockReader& operator=(BlockReader&&) = delete;
  ~BlockReader();

  template <class T>
  Result<T> get() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    if (auto got = get_bytes(&value, sizeof value); !got) return tl::unexpected(got.error());
    return value;
  }

  // Fails if anything follows the end of the stream.
  Result<void> expect_end();

 private:
  BlockReader(std::filesystem::path path, int file) noexcept;
  Result<void> get_bytes(void* into, std::size_t size);
  Result<void> next_block();
  Result<void> read_all(void* into, std::size_t size);
  [[nodiscard]] tl::unexpected<Error> damaged(const std::string& how) const;

  std::filesystem::path path_;
  int file_ = -1;
  std::uint64_t blocks_ = 0;
  std::vector<std::byte> block_;
  std::size_t at_ = 0;
  bool ended_ = false;
};

}  // namespace weir::table
