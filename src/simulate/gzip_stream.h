// Decompression of gzip data piece by piece, with any number of members one after the other, as log rotation
// and `cat a.gz b.gz` leave them. Zeros after the last member are padding, as for gzip itself.
// One stream, one thread.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace weir::simulate {

class GzipStream {
 public:
  struct Step {
    std::size_t consumed = 0;
    std::size_t produced = 0;
  };

  // Empty when there is no memory for it.
  [[nodiscard]] static std::unique_ptr<GzipStream> make();
  ~GzipStream();
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;

  // Consumes from `input` and fills `output`, as far as both go and the data is good.
  [[nodiscard]] Step inflate(std::span<const std::byte> input, std::span<char> output);

  // What is wrong with the data; empty: nothing so far.
  [[nodiscard]] const std::string& damage() const noexcept { return damage_; }

  // Whether the data may end here: a member is complete and no other has begun.
  [[nodiscard]] bool between_members() const noexcept { return between_members_; }

 private:
  struct Zlib;
  explicit GzipStream(std::unique_ptr<Zlib> zlib) noexcept;

  std::unique_ptr<Zlib> zlib_;  // its address must not change
  bool between_members_ = false;
  std::string damage_;
};

}  // namespace weir::simulate
