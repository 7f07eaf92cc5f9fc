// The decisions of the last minute by limit, computed from samples of the totals. Not thread-safe.
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
  std::uint64_t denied = 0;         // including blocks
  std::uint64_t shadow_denied = 0;  // denied by a shadow limit

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

// Totals since the start.
struct TrafficTotals {
  std::uint64_t requests = 0;         // read by listeners, whatever they ask for
  std::uint64_t evaluated = 0;        // requests that limits were asked about
  std::uint64_t denied_requests = 0;  // each counts once, whatever the number of limits that deny it
  std::map<std::string, TrafficCounts> by_limit;

  void add(const engine::Engine::Totals& totals);
  // The limits that decided since `before`, busiest first.
  [[nodiscard]] std::vector<LimitTraffic> since(const TrafficTotals& before) const;
};

class RecentTraffic {
 public:
  static constexpr Duration window = std::chrono::minutes(1);
  static constexpr Duration interval = std::chrono::seconds(5);

  struct Summary {
    Duration span{};  // a minute, or since the start
    std::uint64_t requests = 0;
    std::uint64_t evaluated = 0;
    std::uint64_t denied_requests = 0;
    std::vector<LimitTraffic> limits{};  // those that decided, busiest first
  };

  explicit RecentTraffic(Instant start) { samples_[0] = {start, {}}; }

  // True if a new sample should be added.
  [[nodiscard]] bool is_due(Instant now) const noexcept { return now - newest().at >= interval; }
  void add(Instant now, TrafficTotals totals);

  [[nodiscard]] Summary summary(Instant now, const TrafficTotals& totals) const;

 private:
  struct Sample {
    Instant at{};
    TrafficTotals totals{};
  };

  static constexpr std::size_t max_samples = window / interval + 1;

  [[nodiscard]] const Sample& newest() const noexcept { return samples_[(added_ - 1) % max_samples]; }
  // The newest sample that is at least a minute old, otherwise the oldest.
  [[nodiscard]] const Sample& base(Instant now) const noexcept;

  std::array<Sample, max_samples> samples_{};
  std::size_t added_ = 1;
};

}  // namespace weir::observe
