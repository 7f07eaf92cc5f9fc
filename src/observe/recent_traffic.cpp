#include "observe/recent_traffic.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace weir::observe {
namespace {

using engine::Event;

}  // namespace

void TrafficTotals::add(const engine::Engine::Tally& tally) {
  for (const auto& [place, events] : tally) {
    const auto count = [&](Event event) { return events[static_cast<std::size_t>(event)]; };
    TrafficCounts& counts = by_limit[place.first];
    for (const Event event :
         {Event::admitted, Event::denied, Event::uncharged, Event::warned, Event::blocked, Event::shadow_denied}) {
      counts.decisions += count(event);
    }
    counts.denied += count(Event::denied) + count(Event::blocked);
    counts.shadow_denied += count(Event::shadow_denied);
  }
}

void RecentTraffic::keep(Instant now, TrafficTotals totals) {
  samples_[kept_++ % max_samples] = {now, std::move(totals)};
}

const RecentTraffic::Sample& RecentTraffic::base(Instant now) const noexcept {
  const std::size_t count = std::min(kept_, max_samples);
  for (std::size_t back = 0; back < count; ++back) {
    const Sample& sample = samples_[(kept_ - 1 - back) % max_samples];
    if (now - sample.at >= window) return sample;
  }
  return samples_[(kept_ - count) % max_samples];
}

RecentTraffic::Summary RecentTraffic::summary(Instant now, const TrafficTotals& totals) const {
  const Sample& from = base(now);
  Summary summary{.span = std::max(Duration::zero(), now - from.at),
                  .requests = totals.requests - from.totals.requests};
  for (const auto& [limit, counts] : totals.by_limit) {
    const auto before = from.totals.by_limit.find(limit);
    const TrafficCounts grown = before == from.totals.by_limit.end() ? counts : counts - before->second;
    if (grown.decisions > 0) summary.limits.push_back({limit, grown});
  }
  std::ranges::stable_sort(summary.limits, std::ranges::greater{},
                           [](const LimitTraffic& limit) { return limit.counts.decisions; });
  return summary;
}

}  // namespace weir::observe
