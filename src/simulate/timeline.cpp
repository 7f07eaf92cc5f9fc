#include "simulate/timeline.h"

namespace weir::simulate {

void Timeline::make_room(std::int64_t second) {
  if (bins_.empty()) start_ = second;
  while (place_of(second) >= most_bins) halve();
  if (place_of(second) >= bins_.size()) bins_.resize(place_of(second) + 1);
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
