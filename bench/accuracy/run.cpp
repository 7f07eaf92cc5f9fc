#include "accuracy/run.h"

#include <memory>

#include "accuracy/exact_window.h"
#include "weir/clock.h"
#include "weir/limiter.h"

namespace bench::accuracy {

Admitted run(const weir::Limit& limit, weir::Duration window, const traffic::Arrivals& arrivals) {
  const auto clock = std::make_shared<weir::ManualClock>(traffic::epoch);
  weir::Limiter limiter = weir::Limiter::create(limit, clock).value();
  ExactWindow exact(window);
  const auto stretch_of = [window](weir::Instant at) {
    return static_cast<std::size_t>((at - traffic::epoch + window / 2) / window);
  };
  Admitted admitted;
  if (arrivals.empty()) return admitted;
  admitted.per_window.resize(stretch_of(arrivals.back()) + 1);
  for (const weir::Instant at : arrivals) {
    clock->set(at);
    if (!limiter.check().admitted) continue;
    exact.admit(at);
    ++admitted.total;
    ++admitted.per_window[stretch_of(at)];
  }
  admitted.worst_stretch = exact.worst();
  return admitted;
}

Deviation deviation(const Admitted& admitted, const Admitted& exact) {
  std::size_t over = 0;
  std::size_t under = 0;
  for (std::size_t i = 0; i < exact.per_window.size(); ++i) {
    const std::size_t ours = admitted.per_window[i];
    const std::size_t theirs = exact.per_window[i];
    over += ours > theirs ? ours - theirs : 0;
    under += theirs > ours ? theirs - ours : 0;
  }
  const auto total = static_cast<double>(exact.total);
  return {static_cast<double>(over) / total, static_cast<double>(under) / total};
}

}  // namespace bench::accuracy
