// What was decided in the last minute, per limit: from totals that are kept every few seconds, so that the memory is
// bounded by the number of limits. Its owner guards it.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "weir/time.h"

namespace weir::observe {

struct TrafficCounts {
  std::uint64_t decisions = 0;
  std::uint64_t denied = 0;         // by a penalty too
  std::uint64_t shadow_denied = 0;  // would have been

  TrafficCounts& operator+=(const TrafficCounts& more) noexcept {
    decisions += more.decisions;
    denied += more.denied;
    shadow_denied += more.shadow_denied;
    return *this;
  }
  [[nodiscard]] friend TrafficCounts operator-(const TrafficCounts& now, const TrafficCounts& before) noexcept {
    return {now.decisions - before.decisions, now.denied - before.denied, now.shadow_denied - before.shadow_denied};
  }
  friend bool operator==(const TrafficCounts&, const TrafficCounts&) = default;
};

struct LimitTraffic {
  std::string limit;
  TrafficCounts counts;
};

// Since the start.
struct TrafficTotals {
  std::uint64_t requests = 0;
  std::map<std::string, TrafficCounts> by_limit;

  void add(const engine::Engine::Tally& tally);
};

class RecentTraffic {
 public:
  static constexpr Duration window = std::chrono::minutes(1);
  static constexpr Duration interval = std::chrono::seconds(5);

  struct Summary {
    Duration span{};  // a minute, or since the start
    std::uint64_t requests = 0;
    std::vector<LimitTraffic> limits{};  // those that decided, the busiest first
  };

  explicit RecentTraffic(Instant start) { samples_[0] = {start, {}}; }

  // Whether the last one is so old that there should be another.
  [[nodiscard]] bool is_due(Instant now) const noexcept { return now - newest().at >= interval; }
  void keep(Instant now, TrafficTotals totals);

  [[nodiscard]] Summary summary(Instant now, const TrafficTotals& totals) const;

 private:
  struct Sample {
    Instant at{};
    TrafficTotals totals{};
  };

  static constexpr std::size_t max_samples = window / interval + 1;

  [[nodiscard]] const Sample& newest() const noexcept { return samples_[(kept_ - 1) % max_samples]; }
  // The one from which a minute is counted: the newest that is a minute old, or else the oldest there is.
  [[nodiscard]] const Sample& base(Instant now) const noexcept;

  std::array<Sample, max_samples> samples_{};
  std::size_t kept_ = 1;
};

}  // namespace weir::observe
