// How each algorithm's state is laid into a payload and read back.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "core/rule.h"
#include "table/payload.h"
#include "weir/cost.h"

namespace weir::table {

template <class A>
inline constexpr bool on_arrival_time = std::is_same_v<typename A::State, core::ArrivalState>;

// The most that a consumer at rest can take at once.
template <class Limit>
[[nodiscard]] std::uint64_t capacity_of(const Limit& limit) noexcept {
  if constexpr (std::is_base_of_v<core::ArrivalLimit, Limit>) {
    return limit.burst;
  } else {
    return limit.limit;
  }
}

// Whether a cost can change a state: all others only look.
template <class Limit>
[[nodiscard]] bool can_charge(const Limit& limit, Cost cost) noexcept {
  return cost.units() - 1 < capacity_of(limit);
}

// Whether states under these numbers fit eight bytes. A window's count may reach twice its limit, in debt.
[[nodiscard]] inline bool fits_narrow(const core::ArrivalLimit& limit) noexcept {
  return limit.count <= static_cast<std::int64_t>(NarrowPayload::largest_small) + 1;
}

[[nodiscard]] inline bool fits_narrow(const core::FixedWindow::Limit& limit) noexcept {
  return 2 * limit.limit <= NarrowPayload::largest_small;
}

// unpack leaves the payload to be overwritten by pack, which has to follow for a state that owns memory.
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
struct Packing<core::SlidingWindowLog, LogPayload> {
  using Log = core::SlidingWindowLog;
  static Log::State unpack(const Log::Limit& /*limit*/, LogPayload& payload, std::int64_t /*now*/) noexcept {
    return {core::LogRing::Handle(std::exchange(payload.ring, nullptr))};
  }
  static LogPayload pack(const Log::Limit& limit, Log::State& state) noexcept {
    return {core::micros(Log::forget_at(limit, state)), state.ring.release(), 0};
  }
};

// The payload that an algorithm uses when eight bytes are too few, or never enough.
template <class A>
using RoomyPayload = std::conditional_t<std::is_same_v<A, core::SlidingWindowLog>, LogPayload, WidePayload>;

template <class A>
inline constexpr bool may_be_narrow = on_arrival_time<A> || std::is_same_v<A, core::FixedWindow>;

}  // namespace weir::table
