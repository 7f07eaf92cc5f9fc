#include "observe/recent_traffic.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace weir::observe {

void TrafficTotals::add(const engine::Engine::Totals& totals) {
  using engine::Event;
  for (const auto& [route, count] : totals.denied_requests) denied_requests += count;
  for (const auto& [key, events] : totals.by_limit_and_route) {
    const auto count = [&](Event event) { return events[static_cast<std::size_t>(event)]; };
    TrafficCounts& counts = by_limit[key.first];
    for (const Event event :
         {Event::admitted, Event::denied, Event::uncharged, Event::warned, Event::blocked, Event::shadow_denied}) {
      counts.decisions += count(event);
    }
    counts.denied += count(Event::denied) + count(Event::blocked);
    counts.shadow_denied += count(Event::shadow_denied);
  }
}

std::vector<LimitTraffic> TrafficTotals::since(const TrafficTotals& before) const {
  std::vector<LimitTraffic> limits;
  for (const auto& [limit, counts] : by_limit) {
    const auto found = before.by_limit.find(limit);
    const TrafficCounts grown = found == before.by_limit.end() ? counts : counts - found->second;
    if (grown.decisions > 0) limits.push_back({limit, grown});
  }
  std::ranges::stable_sort(limits, std::ranges::greater{},
                           [](const LimitTraffic& limit) { return limit.counts.decisions; });
  return limits;
}

void RecentTraffic::add(Instant now, TrafficTotals totals) {
  samples_[added_++ % max_samples] = {now, std::move(totals)};
}

const RecentTraffic::Sample& RecentTraffic::base(Instant now) const noexcept {
  const std::size_t count = std::min(added_, max_samples);
  for (std::size_t back = 0; back < count; ++back) {
    const Sample& sample = samples_[(added_ - 1 - back) % max_samples];
    if (now - sample.at >= window) return sample;
  }
  return samples_[(added_ - count) % max_samples];
}

RecentTraffic::Summary RecentTraffic::summary(Instant now, const TrafficTotals& totals) const {
  const Sample& from = base(now);
  return {.span = std::max(Duration::zero(), now - from.at),
          .requests = totals.requests - from.totals.requests,
          .evaluated = totals.evaluated - from.totals.evaluated,
          .denied_requests = totals.denied_requests - from.totals.denied_requests,
          .limits = totals.since(from.totals)};
}

}  // namespace weir::observe
