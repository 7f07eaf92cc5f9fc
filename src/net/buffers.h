// What waits on either side of a socket: bytes that came and are not consumed, and bytes that are to be sent. Internal
// to src/net. One thread.
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

// The bytes that came and are not consumed, in one piece. Grows with what comes, up to a bound.
class InputBuffer {
 public:
  static constexpr std::size_t first_size = std::size_t{4} << 10;
  static constexpr std::size_t batch_size = std::size_t{64} << 10;  // as much is read at once, where as much is sent

  explicit InputBuffer(std::size_t bound) noexcept : bound_(std::max<std::size_t>(bound, 1)) {}

  [[nodiscard]] std::span<char> pending() const noexcept { return {bytes_.get() + begin_, end_ - begin_}; }
  [[nodiscard]] bool at_bound() const noexcept { return end_ - begin_ >= bound_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  // Where to put what comes next; empty only at the bound. Moves what is pending.
  [[nodiscard]] std::span<char> room() {
    const std::size_t held = end_ - begin_;
    std::size_t wanted = std::max(size_, std::min(first_size, bound_));
    if (filled_ && wanted < batch_size) wanted *= 2;
    while (wanted - held < wanted / 4 && wanted < bound_) wanted *= 2;
    if (held < batch_size / 2 && wanted > batch_size) wanted = batch_size;  // a large message is over
    wanted = std::min(wanted, bound_);
    filled_ = false;
    if (wanted != size_) {
      auto larger = std::make_unique_for_overwrite<char[]>(wanted);
      if (held > 0) std::memcpy(larger.get(), bytes_.get() + begin_, held);
      bytes_ = std::move(larger);
      size_ = wanted;
    } else if (begin_ > 0 && held > 0) {
      std::memmove(bytes_.get(), bytes_.get() + begin_, held);
    }
    begin_ = 0;
    end_ = held;
    return {bytes_.get() + end_, size_ - end_};
  }

  // So many bytes have been put into the room.
  void fill(std::size_t count) noexcept {
    end_ += count;
    filled_ = end_ == size_;
  }

  // They stay where they are until room() is asked for.
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
  bool filled_ = false;  // the last read took all the room: there may be more
};

// Sends what waits for a socket, in the clear or by TLS: as much as the socket takes, without waiting.
class Sender {
 public:
  enum class State : std::uint8_t {
    done,        // all is sent
    held,        // the socket takes no more for now
    failed,      // see errno
    tls_failed,  // see TlsStream::problem
  };

  struct Progress {
    State state;
    bool moved;  // a byte went
  };

  // What was begun, then `plain`. What is begun of it leaves it. `tls` is null in the clear.
  [[nodiscard]] Progress send(int socket, TlsStream* tls, std::string& plain);

  // Of what was begun.
  [[nodiscard]] std::size_t unsent() const noexcept { return begun_.size() - sent_; }

 private:
  std::string begun_;  // as on the wire: a part of it is sent, or it is sealed by TLS
  std::size_t sent_ = 0;
};

}  // namespace weir::net
