// Peak rates and a timeline of requests. Times must not decrease. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "weir/time.h"

namespace weir::simulate {

// Returns whole seconds since the epoch.
[[nodiscard]] inline std::int64_t second_of(Instant at) noexcept {
  return std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count();
}

struct Peak {
  std::uint64_t count = 0;
  Instant at{};  // the start of the period, never before the first request

  friend bool operator==(const Peak&, const Peak&) = default;
};

// The total, the busiest second and the busiest minute of a stream of requests. Seconds are calendar seconds; a minute
// is any 60 consecutive ones. Needs under 400 bytes, and a comparison and an increment per request.
class RatePeak {
 public:
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

  std::int64_t first_ = 0;  // the first second with a request
  std::int64_t second_ = 0;
  std::uint32_t count_ = 0;                     // requests in the current second
  std::uint64_t in_minute_ = 0;                 // sum of the closed seconds among the last 60
  std::array<std::uint32_t, minute> counts_{};  // requests in each of these seconds
  std::uint64_t requests_ = 0;                  // requests in all closed seconds
  std::uint64_t max_in_second_ = 0;
  std::int64_t busiest_second_ = 0;
  std::uint64_t max_in_minute_ = 0;
  std::int64_t busiest_minute_end_ = 0;
};

// Admitted and denied requests over time, in at most `max_bins` bins of equal width. The width is one second at first
// and doubles whenever the log outgrows the bins.
class Timeline {
 public:
  static constexpr std::size_t max_bins = 400;

  struct Bin {
    std::uint64_t admitted = 0;
    std::uint64_t denied = 0;

    friend bool operator==(const Bin&, const Bin&) = default;
  };

  void add(std::int64_t second, bool admitted) {
    if (second >= end_ || bins_.empty()) make_room(second);
    ++(admitted ? bins_.back().admitted : bins_.back().denied);
  }

  [[nodiscard]] Instant start() const noexcept { return Instant{std::chrono::seconds{start_}}; }
  [[nodiscard]] Duration width() const noexcept { return std::chrono::seconds{width_}; }
  [[nodiscard]] const std::vector<Bin>& bins() const noexcept { return bins_; }  // contiguous

 private:
  // Makes the bin of `second` the last one.
  void make_room(std::int64_t second);
  void halve();
  [[nodiscard]] std::size_t bin_of(std::int64_t second) const noexcept {
    return static_cast<std::size_t>((second - start_) / width_);
  }

  std::vector<Bin> bins_;
  std::int64_t start_ = 0;
  std::int64_t width_ = 1;
  std::int64_t end_ = 0;  // the end of the last bin
};

}  // namespace weir::simulate
