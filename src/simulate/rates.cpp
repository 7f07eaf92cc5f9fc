#include "simulate/rates.h"

#include <algorithm>

namespace weir::simulate {
namespace {

Instant instant_of(std::int64_t second) noexcept {
  return Instant{std::chrono::seconds{second}};
}

}  // namespace

std::uint32_t& RatePeak::count_of(std::int64_t second) noexcept {
  constexpr auto length = static_cast<std::int64_t>(minute);
  return counts_[static_cast<std::size_t>((second % length + length) % length)];
}

void RatePeak::turn_to(std::int64_t second) noexcept {
  close();
  const std::int64_t leaving = std::min<std::int64_t>(second - second_, minute);
  for (std::int64_t i = 1; i <= leaving; ++i) {
    std::uint32_t& oldest = count_of(second_ + i);
    in_minute_ -= oldest;
    oldest = 0;
  }
  if (requests_ == 0) first_ = second;
  second_ = second;
}

void RatePeak::close() noexcept {
  if (count_ == 0) return;
  requests_ += count_;
  in_minute_ += count_;
  count_of(second_) += count_;
  if (count_ > max_in_second_) {
    max_in_second_ = count_;
    busiest_second_ = second_;
  }
  if (in_minute_ > max_in_minute_) {
    max_in_minute_ = in_minute_;
    busiest_minute_end_ = second_;
  }
  count_ = 0;
}

RatePeak::Peaks RatePeak::peaks() const noexcept {
  RatePeak closed = *this;
  closed.close();
  if (closed.requests_ == 0) return {};
  const std::int64_t minute_begin = closed.busiest_minute_end_ - static_cast<std::int64_t>(minute) + 1;
  return {
      .requests = closed.requests_,
      .second = {closed.max_in_second_, instant_of(closed.busiest_second_)},
      .minute = {closed.max_in_minute_, instant_of(std::max(closed.first_, minute_begin))},
  };
}

void Timeline::make_room(std::int64_t second) {
  if (bins_.empty()) start_ = second;
  while (bin_of(second) >= max_bins) halve();
  if (bin_of(second) >= bins_.size()) bins_.resize(bin_of(second) + 1);
  end_ = start_ + static_cast<std::int64_t>(bins_.size()) * width_;
}

void Timeline::halve() {
  const std::size_t before = bins_.size();
  for (std::size_t i = 0; i < before; ++i) {
    const Bin bin = bins_[i];
    if (i % 2 == 0) {
      bins_[i / 2] = bin;
    } else {
      bins_[i / 2].admitted += bin.admitted;
      bins_[i / 2].denied += bin.denied;
    }
  }
  bins_.resize((before + 1) / 2);
  width_ *= 2;
}

}  // namespace weir::simulate
