#include "observe/seconds.h"

#include <algorithm>
#include <array>
#include <utility>

namespace weir::observe {

std::string_view name_of(StoreState state) noexcept {
  constexpr std::array<std::string_view, 4> names{"local", "closed", "half_open", "open"};
  return names[static_cast<std::size_t>(state)];
}

MeasuredSecond SecondMeter::measure(Instant now, Totals totals, const Gauges& gauges) {
  MeasuredSecond measured;
  Second& second = measured.second;
  second.at = now;
  second.span = std::max(Duration::zero(), now - std::exchange(at_, now));
  second.requests = totals.traffic.requests - before_.traffic.requests;
  second.evaluated = totals.traffic.evaluated - before_.traffic.evaluated;
  second.denied_requests = totals.traffic.denied_requests - before_.traffic.denied_requests;
  second.gauges = gauges;
  measured.limits = totals.traffic.since(before_.traffic);
  for (const LimitTraffic& limit : measured.limits) second.counts += limit.counts;
  DurationHistogram::Totals durations = totals.durations;
  for (std::size_t i = 0; i < durations.counts.size(); ++i) durations.counts[i] -= before_.durations.counts[i];
  second.p50 = quantile(duration_scale, durations, 0.5);
  second.p99 = quantile(duration_scale, durations, 0.99);
  before_ = std::move(totals);
  return measured;
}

}  // namespace weir::observe
