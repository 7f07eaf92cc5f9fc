// Admitted and denied over time, in at most `most_bins` bins of equal width: seconds at first, twice as wide
// whenever the log outgrows them. Times do not run backwards. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "weir/time.h"

namespace weir::simulate {

class Timeline {
 public:
  static constexpr std::size_t most_bins = 400;

  struct Bin {
    std::uint64_t admitted = 0;
    std::uint64_t denied = 0;

    friend bool operator==(const Bin&, const Bin&) = default;
  };

  void add(std::int64_t second, bool admitted) {
    if (second >= end_ || bins_.empty()) make_room(second);
    ++(admitted ? bins_.back().admitted : bins_.back().denied);
    last_ = second;
  }

  [[nodiscard]] Instant start() const noexcept { return Instant{std::chrono::seconds{start_}}; }
  [[nodiscard]] Duration width() const noexcept { return std::chrono::seconds{width_}; }
  [[nodiscard]] const std::vector<Bin>& bins() const noexcept { return bins_; }  // none is missing between

  // How much of a bin the log has: the last may be cut short.
  [[nodiscard]] Duration covered(std::size_t bin) const noexcept {
    return bin + 1 == bins_.size() ? std::chrono::seconds{last_ + 1 - (end_ - width_)} : width();
  }

 private:
  // Makes the bin of `second` the last one.
  void make_room(std::int64_t second);
  void halve();
  [[nodiscard]] std::size_t place_of(std::int64_t second) const noexcept {
    return static_cast<std::size_t>((second - start_) / width_);
  }

  std::vector<Bin> bins_;
  std::int64_t start_ = 0;
  std::int64_t width_ = 1;
  std::int64_t end_ = 0;   // of the last bin
  std::int64_t last_ = 0;  // second with a request
};

}  // namespace weir::simulate
