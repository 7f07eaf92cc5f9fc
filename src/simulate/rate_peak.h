// The busiest second and the busiest minute of a stream of requests, and how many there were.
//
// Seconds are those of the calendar; a minute is any 60 of them in a row. Times do not run backwards. 256 bytes, and
// a comparison and an increment per request. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "weir/time.h"

namespace weir::simulate {

struct Peak {
  std::uint64_t count = 0;
  Instant at{};  // when it began, not before the first request

  friend bool operator==(const Peak&, const Peak&) = default;
};

class RatePeak {
 public:
  // `second`: whole seconds since the epoch.
  void add(std::int64_t second) noexcept {
    if (second != second_) turn_to(second);
    ++count_;
  }

  struct Peaks {
    std::uint64_t requests = 0;
    Peak second;
    Peak minute;
  };
  [[nodiscard]] Peaks peaks() const noexcept;

 private:
  static constexpr std::size_t minute = 60;

  void turn_to(std::int64_t second) noexcept;
  void close() noexcept;
  [[nodiscard]] std::uint32_t& count_of(std::int64_t second) noexcept;

  std::int64_t first_ = 0;  // second with a request
  std::int64_t second_ = 0;
  std::uint32_t count_ = 0;                     // of this second,
  std::uint64_t in_minute_ = 0;                 // of it and the 59 before, once it is closed,
  std::array<std::uint32_t, minute> counts_{};  // and of each of them
  std::uint64_t requests_ = 0;                  // of closed seconds
  std::uint64_t most_in_second_ = 0;
  std::int64_t busiest_second_ = 0;
  std::uint64_t most_in_minute_ = 0;
  std::int64_t busiest_minute_end_ = 0;
};

}  // namespace weir::simulate
