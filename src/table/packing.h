// The payload of a cell next to the hash of its key, and how each algorithm's state is packed into it.
//
// A payload is dead at an instant if its state can be forgotten; a dead cell is free space. All zeros is dead.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "core/arithmetic.h"
#include "core/instant.h"
#include "core/rule.h"
#include "weir/cost.h"
#include "weir/limit.h"

namespace weir::table {

// 8 bytes: a time in 51 bits, which wraps every 71 years, and 13 bits for a small number. The time is read as one
// between 51 years before and 20 years after `now`, the farthest that a state can be ahead (a fill and a debt).
class NarrowPayload {
 public:
  static constexpr unsigned small_bits = 13;
  static constexpr std::uint64_t max_small = (std::uint64_t{1} << small_bits) - 1;

  NarrowPayload() = default;
  NarrowPayload(std::int64_t time, std::uint64_t small) noexcept
      : word_((static_cast<std::uint64_t>(time) << small_bits) | small) {}

  // How far the time is ahead of `now`, with the small number in the low bits. Zero if dead.
  [[nodiscard]] std::int64_t word_ahead(std::int64_t now) const noexcept {
    const std::uint64_t word = word_ - (static_cast<std::uint64_t>(now) << small_bits);
    const bool live = word < ((farthest_ahead + 1) << small_bits) && word_ != 0;
    return live ? static_cast<std::int64_t>(word) : 0;
  }
  // Sets the word without a branch, if `condition` is true.
  void set_word_ahead_if(bool condition, std::int64_t word, std::int64_t now) noexcept {
    const std::uint64_t moved = static_cast<std::uint64_t>(word) + (static_cast<std::uint64_t>(now) << small_bits);
    word_ = static_cast<std::uint64_t>(
        core::either(condition, static_cast<std::int64_t>(moved), static_cast<std::int64_t>(word_)));
  }

  [[nodiscard]] std::int64_t time(std::int64_t now) const noexcept { return now + ahead(now); }
  [[nodiscard]] std::uint64_t small() const noexcept { return word_ & max_small; }
  [[nodiscard]] bool dead(std::int64_t now) const noexcept {
    const std::int64_t ahead = this->ahead(now);
    return word_ == 0 || ahead < 0 || (ahead == 0 && small() == 0);
  }

 private:
  static constexpr std::uint64_t time_mask = (std::uint64_t{1} << 51) - 1;
  static constexpr std::uint64_t farthest_ahead = static_cast<std::uint64_t>(2 * Limit::max_duration.count());

  [[nodiscard]] std::int64_t ahead(std::int64_t now) const noexcept {
    const std::uint64_t distance = ((word_ >> small_bits) - static_cast<std::uint64_t>(now)) & time_mask;
    return distance <= farthest_ahead ? static_cast<std::int64_t>(distance)
                                      : static_cast<std::int64_t>(distance | ~time_mask);
  }

  std::uint64_t word_;
};

// 24 bytes: a full time and two full words.
struct WidePayload {
  std::int64_t time;
  std::uint64_t first;
  std::uint64_t second;

  [[nodiscard]] bool dead(std::int64_t now) const noexcept {
    return time < now || (time == now && first == 0) || (time == 0 && first == 0 && second == 0);
  }
};

// 24 bytes, and a ring on the heap that the cell owns.
struct LogPayload {
  std::int64_t forget_at;
  core::LogRing* ring;
  std::uint64_t unused;

  [[nodiscard]] bool dead(std::int64_t now) const noexcept { return ring == nullptr || forget_at <= now; }
};

template <class A>
inline constexpr bool on_arrival_time = std::is_same_v<typename A::State, core::ArrivalState>;

// The maximum that an idle consumer can take at once.
template <class Limit>
[[nodiscard]] std::uint64_t capacity_of(const Limit& limit) noexcept {
  if constexpr (std::is_base_of_v<core::ArrivalLimit, Limit>) {
    return limit.burst;
  } else {
    return limit.limit;
  }
}

// True if a cost can change a state; other costs only look.
template <class Limit>
[[nodiscard]] bool can_charge(const Limit& limit, Cost cost) noexcept {
  return cost.units() - 1 < capacity_of(limit);
}

// True if states under these numbers fit into eight bytes. A window's count may reach twice its limit, in debt.
[[nodiscard]] inline bool fits_narrow(const core::ArrivalLimit& limit) noexcept {
  return limit.count <= static_cast<std::int64_t>(NarrowPayload::max_small) + 1;
}

[[nodiscard]] inline bool fits_narrow(const core::FixedWindow::Limit& limit) noexcept {
  return 2 * limit.limit <= NarrowPayload::max_small;
}

// The state is only the time at which the last hold expires.
[[nodiscard]] inline bool fits_narrow(const core::Concurrency::Limit& /*limit*/) noexcept {
  return true;
}

// unpack() moves memory that a state owns out of the payload: pack() must follow and overwrite the payload.
template <class A, class Payload>
struct Packing;

template <class A>
  requires on_arrival_time<A>
struct Packing<A, NarrowPayload> {
  static core::ArrivalState unpack(const typename A::Limit& /*limit*/, const NarrowPayload& payload,
                                   std::int64_t now) noexcept {
    if (payload.dead(now)) return {};
    return {payload.time(now), static_cast<std::int64_t>(payload.small())};
  }
  static NarrowPayload pack(const typename A::Limit& /*limit*/, const core::ArrivalState& state) noexcept {
    return {state.whole, static_cast<std::uint64_t>(state.nths)};
  }
};

template <class A>
  requires on_arrival_time<A>
struct Packing<A, WidePayload> {
  static core::ArrivalState unpack(const typename A::Limit& /*limit*/, const WidePayload& payload,
                                   std::int64_t now) noexcept {
    if (payload.dead(now)) return {};
    return {payload.time, static_cast<std::int64_t>(payload.first)};
  }
  static WidePayload pack(const typename A::Limit& /*limit*/, const core::ArrivalState& state) noexcept {
    return {state.whole, static_cast<std::uint64_t>(state.nths), 0};
  }
};

template <>
struct Packing<core::FixedWindow, NarrowPayload> {
  using Window = core::FixedWindow;
  static Window::State unpack(const Window::Limit& /*limit*/, const NarrowPayload& payload, std::int64_t now) noexcept {
    if (payload.dead(now)) return {};
    return {payload.time(now), payload.small()};
  }
  static NarrowPayload pack(const Window::Limit& /*limit*/, const Window::State& state) noexcept {
    return {state.end, state.count};
  }
};

template <>
struct Packing<core::FixedWindow, WidePayload> {
  using Window = core::FixedWindow;
  static Window::State unpack(const Window::Limit& /*limit*/, const WidePayload& payload, std::int64_t now) noexcept {
    if (payload.dead(now)) return {};
    return {payload.time, payload.first};
  }
  static WidePayload pack(const Window::Limit& /*limit*/, const Window::State& state) noexcept {
    return {state.end, state.count, 0};
  }
};

template <>
struct Packing<core::SlidingWindowCounter, WidePayload> {
  using Counter = core::SlidingWindowCounter;
  static Counter::State unpack(const Counter::Limit& limit, const WidePayload& payload, std::int64_t now) noexcept {
    if (payload.dead(now)) return {};
    return {payload.time - 2 * limit.window, payload.first, payload.second};
  }
  static WidePayload pack(const Counter::Limit& limit, const Counter::State& state) noexcept {
    return {state.start + 2 * limit.window, state.previous, state.current};
  }
};

template <>
struct Packing<core::Concurrency, NarrowPayload> {
  using Holds = core::Concurrency;
  static Holds::State unpack(const Holds::Limit& /*limit*/, const NarrowPayload& payload, std::int64_t now) noexcept {
    if (payload.dead(now)) return {};
    return {payload.time(now)};
  }
  static NarrowPayload pack(const Holds::Limit& /*limit*/, const Holds::State& state) noexcept {
    return {state.ends, 0};
  }
};

template <>
struct Packing<core::Concurrency, WidePayload> {
  using Holds = core::Concurrency;
  static Holds::State unpack(const Holds::Limit& /*limit*/, const WidePayload& payload, std::int64_t now) noexcept {
    if (payload.dead(now)) return {};
    return {payload.time};
  }
  static WidePayload pack(const Holds::Limit& /*limit*/, const Holds::State& state) noexcept {
    return {state.ends, 0, 0};
  }
};

template <>
struct Packing<core::SlidingWindowLog, LogPayload> {
  using Log = core::SlidingWindowLog;
  static Log::State unpack(const Log::Limit& /*limit*/, LogPayload& payload, std::int64_t /*now*/) noexcept {
    return {core::LogRing::Handle(std::exchange(payload.ring, nullptr))};
  }
  static LogPayload pack(const Log::Limit& limit, Log::State& state) noexcept {
    return {core::micros(Log::forget_at(limit, state)), state.ring.release(), 0};
  }
};

// The payload for states that do not fit into eight bytes.
template <class A>
using RoomyPayload = std::conditional_t<std::is_same_v<A, core::SlidingWindowLog>, LogPayload, WidePayload>;

template <class A>
inline constexpr bool may_be_narrow =
    on_arrival_time<A> || std::is_same_v<A, core::FixedWindow> || std::is_same_v<A, core::Concurrency>;

}  // namespace weir::table
