// The bytes of a log: from a file or standard input, decompressed if they begin as gzip does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "simulate/gzip_stream.h"
#include "weir/result.h"

namespace weir::simulate {

// A file that is open, closed with its owner. Standard input is borrowed: it stays open.
class Descriptor {
 public:
  enum class Closing : std::uint8_t { owned, borrowed };

  Descriptor(int number, Closing closing) noexcept : number_(number), closing_(closing) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&&) = delete;

  [[nodiscard]] int number() const noexcept { return number_; }

 private:
  int number_;
  Closing closing_;
};

// How much of the file has been read, for a progress bar: compressed bytes, where it is compressed.
struct Progress {
  std::uint64_t consumed = 0;
  std::optional<std::uint64_t> total;  // a pipe does not tell
};

// One thread.
class ByteInput {
 public:
  // `path` "-" is standard input. Refuses folders, and what is compressed in another way than gzip.
  [[nodiscard]] static Result<ByteInput> open(const std::string& path);

  // Fills the front of `output`, and says how far; 0 only at the end. After an error, nothing more comes.
  [[nodiscard]] Result<std::size_t> read(std::span<char> output);

  [[nodiscard]] Progress progress() const noexcept { return {consumed_, total_}; }

 private:
  ByteInput(std::string name, Descriptor descriptor) noexcept;

  [[nodiscard]] Result<std::size_t> read_raw(std::span<std::byte> output);
  [[nodiscard]] Result<bool> refill();
  [[nodiscard]] Result<std::size_t> read_gzip(std::span<char> output);

  std::string name_;  // for messages
  Descriptor descriptor_;
  std::optional<std::uint64_t> total_;
  std::uint64_t consumed_ = 0;
  std::vector<std::byte> block_;        // raw bytes, read ahead to tell the format, or to be decompressed
  std::span<const std::byte> pending_;  // what is left of them
  std::unique_ptr<GzipStream> gzip_;    // null: plain
};

}  // namespace weir::simulate
