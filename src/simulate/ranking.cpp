#include "simulate/ranking.h"

#include <algorithm>

namespace weir::simulate {

Ranking::Entry& Ranking::add(std::uint64_t consumer) {
  ++total_;
  auto found = entries_.find(consumer);
  if (found == entries_.end()) {
    if (entries_.size() >= max_entries) forget_half();
    found = entries_.try_emplace(consumer).first;
    found->second.error = forgotten_;
    seen_.add(consumer);
  }
  ++found->second.count;
  return found->second;
}

void Ranking::forget_half() {
  const auto upper = [](const Entry& entry) { return entry.count + entry.error; };
  std::vector<std::uint64_t> uppers;
  uppers.reserve(entries_.size());
  for (const auto& [consumer, entry] : entries_) uppers.push_back(upper(entry));
  const auto middle = uppers.begin() + static_cast<std::ptrdiff_t>(uppers.size() / 2);
  std::ranges::nth_element(uppers, middle);
  forgotten_ = std::max(forgotten_, *middle);
  std::erase_if(entries_, [&](const auto& item) { return upper(item.second) <= forgotten_; });
}

std::vector<Ranking::Ranked> Ranking::top(std::size_t length) const {
  std::vector<Ranked> ranked;
  ranked.reserve(entries_.size());
  for (const auto& [consumer, entry] : entries_) ranked.push_back({consumer, entry.count, entry.error, {}});
  const auto end = ranked.begin() + static_cast<std::ptrdiff_t>(std::min(length, ranked.size()));
  std::ranges::partial_sort(ranked, end, [](const Ranked& a, const Ranked& b) {
    return a.count != b.count ? a.count > b.count : a.consumer < b.consumer;
  });
  ranked.erase(end, ranked.end());
  for (Ranked& item : ranked) item.name = entries_.at(item.consumer).name;
  return ranked;
}

}  // namespace weir::simulate
