// The input and output buffers of a socket. Internal to src/net. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace weir::net {

class TlsStream;

// Received bytes that are not consumed yet, contiguous. Grows up to a bound.
class InputBuffer {
 public:
  static constexpr std::size_t first_size = std::size_t{4} << 10;
  static constexpr std::size_t batch_size = std::size_t{64} << 10;  // the size for a peer that sends a lot

  explicit InputBuffer(std::size_t bound) noexcept : bound_(std::max<std::size_t>(bound, 1)) {}

  [[nodiscard]] std::span<char> pending() const noexcept { return {bytes_.get() + begin_, end_ - begin_}; }
  [[nodiscard]] bool at_bound() const noexcept { return end_ - begin_ >= bound_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  // The free space for the next read; empty only at the bound. Moves pending bytes, so it invalidates pending().
  [[nodiscard]] std::span<char> room() {
    const std::size_t used = end_ - begin_;
    std::size_t wanted = std::max(size_, std::min(first_size, bound_));
    if (filled_ && wanted < batch_size) wanted *= 2;
    while (wanted - used < wanted / 4 && wanted < bound_) wanted *= 2;
    if (used < batch_size / 2 && wanted > batch_size) wanted = batch_size;  // shrinks after a large message
    wanted = std::min(wanted, bound_);
    filled_ = false;
    if (wanted != size_) {
      auto larger = std::make_unique_for_overwrite<char[]>(wanted);
      if (used > 0) std::memcpy(larger.get(), bytes_.get() + begin_, used);
      bytes_ = std::move(larger);
      size_ = wanted;
    } else if (begin_ > 0 && used > 0) {
      std::memmove(bytes_.get(), bytes_.get() + begin_, used);
    }
    begin_ = 0;
    end_ = used;
    return {bytes_.get() + end_, size_ - end_};
  }

  // Adds `count` bytes that were written to room().
  void fill(std::size_t count) noexcept {
    end_ += count;
    filled_ = end_ == size_;
  }

  // Consumed bytes stay in memory until the next call of room().
  void consume(std::size_t count) noexcept {
    begin_ += std::min(count, end_ - begin_);
    if (begin_ == end_) begin_ = end_ = 0;
  }

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t size_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t bound_;
  bool filled_ = false;  // the last read used all the room, so more may follow
};

// Sends output to a socket, plain or with TLS: as much as the socket accepts without blocking.
class Sender {
 public:
  enum class State : std::uint8_t {
    done,        // everything is sent
    blocked,     // the socket accepts no more for now
    failed,      // see errno
    tls_failed,  // see TlsStream::problem
  };

  struct Progress {
    State state;
    bool moved;  // at least one byte was sent
  };

  // Sends what earlier calls left unsent, then `plain`, and removes from `plain` what it takes over. `tls` is null for
  // a plain connection.
  [[nodiscard]] Progress send(int socket, TlsStream* tls, std::string& plain);

  // The number of unsent bytes among those taken over from `plain` (with TLS, of their records).
  [[nodiscard]] std::size_t unsent() const noexcept { return pending_.size() - sent_; }

 private:
  std::string pending_;  // bytes for the wire, partly sent or encrypted
  std::size_t sent_ = 0;
};

}  // namespace weir::net
