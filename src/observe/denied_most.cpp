#include "observe/denied_most.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <tuple>
#include <utility>

namespace weir::observe {
namespace {

std::int64_t half_hour_of(Instant now) noexcept {
  return std::chrono::floor<std::chrono::minutes>(now.time_since_epoch()) / std::chrono::minutes{30};
}

}  // namespace

// Adds up sketches. One that is full may have missed a consumer as often as its lowest count, which is then added to
// count and error both.
class DeniedMost::Merge {
 public:
  void add(const SpaceSaving& sketch) {
    ++sketches_;
    missed_ += sketch.most_missed();
    for (const SpaceSaving::Entry& entry : sketch.entries()) {
      Sum& sum = sums_[{*entry.key.limit, entry.name}];
      sum.count += entry.count;
      sum.error += entry.error;
      if (std::exchange(sum.last_sketch, sketches_) != sketches_) sum.not_missed += sketch.most_missed();
    }
  }

  [[nodiscard]] std::vector<DeniedConsumer> top(std::size_t most) const {
    std::vector<DeniedConsumer> ranked;
    for (const auto& [who, sum] : sums_) {
      const std::uint64_t missed = missed_ - sum.not_missed;
      ranked.push_back({who.first, who.second, sum.count + missed, sum.error + missed});
    }
    std::ranges::sort(ranked, [](const DeniedConsumer& a, const DeniedConsumer& b) {
      return std::tie(b.count, a.error, a.limit, a.consumer) < std::tie(a.count, b.error, b.limit, b.consumer);
    });
    if (ranked.size() > most) ranked.resize(most);
    return ranked;
  }

 private:
  struct Sum {
    std::uint64_t count = 0;
    std::uint64_t error = 0;
    std::uint64_t not_missed = 0;  // by the sketches that have it
    std::size_t last_sketch = 0;   // that has it
  };

  std::map<std::pair<std::string, std::string>, Sum> sums_;
  std::uint64_t missed_ = 0;
  std::size_t sketches_ = 0;
};

std::vector<DeniedConsumer> DeniedMost::top(std::span<const DeniedMost* const> all, std::size_t most, Instant now) {
  const std::int64_t oldest = half_hour_of(now) - 1;
  Merge merge;
  for (const DeniedMost* one : all) {
    const std::lock_guard guard(one->mutex_);
    for (std::size_t i = 0; i < one->halves_.size(); ++i) {
      if (one->half_hours_[i] >= oldest) merge.add(one->halves_[i]);
    }
  }
  return merge.top(most);
}

// A clock that stepped back counts on in the half hour that it left.
SpaceSaving& DeniedMost::current(Instant now) noexcept {
  const std::int64_t latest = std::max(half_hours_[0], half_hours_[1]);
  const std::int64_t half_hour = std::max(half_hour_of(now), latest);
  const auto side = static_cast<std::size_t>(half_hour & 1);
  if (half_hours_[side] != half_hour) {
    halves_[side].clear();
    half_hours_[side] = half_hour;
  }
  return halves_[side];
}

}  // namespace weir::observe
