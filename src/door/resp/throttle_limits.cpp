#include "door/resp/throttle_limits.h"

#include <cstdint>
#include <utility>

namespace weir::door {

std::size_t ThrottleLimits::set_of(const BucketNumbers& numbers) noexcept {
  constexpr std::uint64_t spread = 0x9e3779b97f4a7c15;
  std::uint64_t mixed = numbers.burst * spread;
  mixed = (mixed ^ numbers.rate.count) * spread;
  mixed = (mixed ^ static_cast<std::uint64_t>(numbers.rate.per.count())) * spread;
  return static_cast<std::size_t>(mixed >> 32) % sets;
}

const core::Gcra::Limit* ThrottleLimits::find(const BucketNumbers& numbers) const noexcept {
  for (const std::optional<Kept>& kept : sets_[set_of(numbers)].kept) {
    if (kept && kept->numbers.burst == numbers.burst && kept->numbers.rate == numbers.rate) return &kept->limit;
  }
  return nullptr;
}

Result<const core::Gcra::Limit*> ThrottleLimits::add(const BucketNumbers& numbers) {
  const Result<Limit> checked = Limit::gcra(numbers);
  if (!checked) return failure("Cell error", "Store error: " + checked.error().message());
  Set& set = sets_[set_of(numbers)];
  const std::size_t place = std::exchange(set.next, (set.next + 1) % places);
  return &set.kept[place].emplace(Kept{numbers, core::Gcra::Limit(*checked)}).limit;
}

}  // namespace weir::door
