// What the gates of one listener share: its options, and its counters. Internal to the room.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "net/listener.h"

namespace weir::net {

struct Reception {
  Reception(ListenOptions chosen, MakeSession make) : options(std::move(chosen)), make_session(std::move(make)) {}

  const ListenOptions options;
  const MakeSession make_session;

  std::atomic<std::uint64_t> accepted = 0;
  std::atomic<std::uint64_t> refused = 0;
  std::atomic<std::uint64_t> accept_failures = 0;
  std::atomic<std::uint64_t> handshake_failures = 0;
  std::atomic<std::uint64_t> timed_out = 0;
  std::atomic<std::uint64_t> overlong = 0;
  std::atomic<std::uint64_t> faults = 0;
  std::atomic<std::size_t> open = 0;

  std::mutex mutex;
  std::condition_variable empty;  // open is 0
};

// One of a listener's connections, as long as it is open.
class Seat {
 public:
  explicit Seat(std::shared_ptr<Reception> reception) noexcept : reception_(std::move(reception)) {
    ordinal_ = reception_->open.fetch_add(1) + 1;
  }
  Seat(Seat&& other) noexcept : reception_(std::move(other.reception_)), ordinal_(other.ordinal_) {}
  Seat& operator=(Seat&&) = delete;
  ~Seat() { leave(); }

  [[nodiscard]] bool within_bounds() const noexcept { return ordinal_ <= reception_->options.max_connections; }

  void leave() noexcept {
    const auto reception = std::exchange(reception_, nullptr);
    if (!reception || reception->open.fetch_sub(1) != 1) return;
    const std::lock_guard lock(reception->mutex);
    reception->empty.notify_all();
  }

 private:
  std::shared_ptr<Reception> reception_;
  std::size_t ordinal_ = 0;
};

}  // namespace weir::net
