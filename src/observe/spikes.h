// Detects sudden bursts by comparing a rate with its own recent past.
//
// A spike starts when a stretch of seconds has more than twice the count of any stretch of the same length in the hour
// before, at least 30 in total, and at least 5 per second. Four lengths are tested: 3 and 5 seconds detect a step in
// steady traffic at once; 60 and 300 seconds detect a lasting one where short bursts or hourly jobs are normal. The
// threshold is higher
//
//   - for a day after a spike: three times the past;
//   - for an hour after a spike: also more than twice the rate of that spike;
//   - in the first five minutes of a rate: three times the past, only in stretches of 3 or 5 seconds, and only after 60
//     seconds with at least 30 in the last five, so that new traffic is not a spike.
//
// A burst that recurs, or a new level that stays, is reported once, because it is part of the past hour from then on.
// The hour has 62 minutes, for jobs that are not hourly to the second.
//
// Not thread-safe unless noted.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "observe/recent_traffic.h"
#include "observe/top_denied.h"
#include "weir/time.h"

namespace weir::observe {

// Sums over stretches of one length, in steps of a few seconds: the current sum, and the highest sum of the past hour
// that does not overlap with it.
class Stretch {
 public:
  // `length` must be a multiple of `step`, at most 20 times.
  constexpr Stretch(std::uint16_t length, std::uint16_t step) noexcept
      : length_(length), step_(step), parts_(static_cast<std::uint16_t>(length / step)) {}

  // Adds the count of one second. True if it completes a step, which updates the sum.
  bool add(std::uint32_t count) noexcept;

  [[nodiscard]] std::uint16_t length() const noexcept { return length_; }  // seconds
  [[nodiscard]] std::uint32_t sum() const noexcept { return sum_; }
  [[nodiscard]] std::uint32_t max_of_past() const noexcept;

 private:
  static constexpr std::size_t max_parts = 20;
  static constexpr std::size_t period = 120;  // seconds
  static constexpr std::size_t past_periods = 31;

  void remember(std::uint32_t sum) noexcept;

  std::array<std::uint32_t, past_periods> periods_{};  // the highest sum of each past period
  std::array<std::uint32_t, max_parts> last_{};        // the steps of the current sum
  std::array<std::uint32_t, max_parts> waiting_{};     // sums that overlap with the current one
  std::uint32_t highest_ = 0;                          // the highest sum of the current period
  std::uint32_t sum_ = 0;
  std::uint32_t gathered_ = 0;  // the count of the current step
  std::uint32_t seconds_ = 0;
  std::uint16_t length_;
  std::uint16_t step_;
  std::uint16_t parts_;
};

// Tests one rate. Takes 1.3 kB.
class SpikeTest {
 public:
  static constexpr std::uint16_t max_stretch = 300;
  static constexpr std::uint32_t first_seconds = 300;    // the threshold is higher during this time
  static constexpr std::uint32_t silent_seconds = 60;    // seconds of initial traffic in which nothing is reported
  static constexpr std::uint16_t max_initial_range = 5;  // the longest stretch that is tested in first_seconds
  static constexpr std::uint64_t factor = 2;
  static constexpr std::uint64_t factor_again = 3;           // the factor for a day after a spike, and in first_seconds
  static constexpr std::uint32_t min_count = 30;             // the minimum count in a stretch
  static constexpr std::uint32_t min_rate = 5;               // per second
  static constexpr std::size_t calm_seconds = 5;             // calm seconds that end a spike
  static constexpr std::uint32_t max_spike_seconds = 3'600;  // afterwards the new rate is considered normal

  enum class State : std::uint8_t { none, begins, lasts, ends };

  // Creates a test for a rate that is known to have been nearly zero: spikes are detected from the first second.
  [[nodiscard]] static SpikeTest after_silence() noexcept {
    SpikeTest test;
    test.seconds_ = first_seconds;
    return test;
  }

  // Adds the count of one second, even if it is zero. The sum over max_stretch must be less than 2^32.
  State add(std::uint32_t count) noexcept;

  // Rates per second over the stretch that detected the spike, now and at their past maximum.
  struct Rates {
    double now = 0;
    double past = 0;
    std::uint32_t seconds = 0;  // the length of the stretch
  };
  [[nodiscard]] Rates rates() const noexcept;

 private:
  [[nodiscard]] static std::uint32_t min_sum_of(const Stretch& stretch) noexcept {
    return std::max(min_count, min_rate * stretch.length());
  }
  [[nodiscard]] bool is_sudden(const Stretch& stretch, std::uint32_t past) const noexcept;
  [[nodiscard]] State update() noexcept;

  std::array<Stretch, 4> stretches_{{{3, 1}, {5, 1}, {60, 5}, {max_stretch, 15}}};
  std::uint32_t seconds_ = 0;
  std::uint32_t busy_seconds_ = 0;  // seconds whose 5-second sum was high enough to be compared
  std::uint32_t last_begin_ = 0;    // the second in which the last spike began; 0: none
  std::uint32_t past_ = 0;          // the past maximum when it began
  float last_rate_ = 0;             // its highest rate per second
  std::uint8_t stretch_ = 0;        // the index of the stretch that detected it
  std::uint8_t calm_ = 0;
  bool lasts_ = false;
};

// Tests the decisions of each limit, and the denials of each consumer that is denied often.
class Spikes {
 public:
  static constexpr std::size_t max_limits = 1'000;
  static constexpr std::size_t max_consumers = 1'024;
  // A consumer with fewer denials per second is ignored.
  static constexpr std::uint64_t min_denials = 10;

  struct Spike {
    std::string limit{};
    std::uint64_t consumer = 0;  // a keyed hash; 0: the limit as a whole
    SpikeTest::Rates rates{};
    const TopDenied* from = nullptr;  // has the consumer's name
  };

  // Sets the limits of the active policy. Those of the previous policy keep their past, even if they were idle.
  void set_limits(std::span<const std::string> names);

  // Adds the decisions of the last `seconds`; limits that are missing decided nothing. Returns the spikes that begin.
  [[nodiscard]] std::vector<Spike> add_limits(std::span<const LimitTraffic> limits, std::size_t seconds, Instant now);

  // Does the same for consumers, given their total denials.
  [[nodiscard]] std::vector<Spike> add_consumers(std::span<const TopDenied* const> denied, std::size_t seconds);

  // The current spike of a limit. Thread-safe.
  struct Lasting {
    Instant since{};
    SpikeTest::Rates rates{};
  };
  [[nodiscard]] std::optional<Lasting> lasting(std::string_view limit) const;
  // Spikes since the start. Thread-safe.
  struct Counts {
    std::uint64_t limits = 0;
    std::uint64_t consumers = 0;
  };
  [[nodiscard]] std::map<std::string, Counts> counts() const;

 private:
  struct OfLimit {
    SpikeTest test;
    Instant since{};  // the start of the spike, while it lasts
    bool lasts = false;
  };
  struct Key {
    std::string_view limit;
    std::uint64_t consumer;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept {
      return std::hash<std::string_view>{}(key.limit) ^ static_cast<std::size_t>(key.consumer);
    }
  };
  struct OfConsumer {
    SpikeTest test;
    std::uint64_t silent = 0;  // seconds with fewer than min_denials
    std::uint64_t added = 0;   // since the last test
    const TopDenied* from = nullptr;
  };
  using Denials = std::unordered_map<Key, std::uint64_t, KeyHash>;

  void add_denials(const TopDenied& denied, const std::vector<TopDenied::Count>& counts);

  mutable std::mutex mutex_;  // guards limits_ and counts_
  std::map<std::string, OfLimit, std::less<>> limits_;
  std::map<std::string, Counts> counts_;
  std::unordered_map<Key, OfConsumer, KeyHash> consumers_;
  std::size_t watched_ = 0;                               // seconds
  std::unordered_map<const TopDenied*, Denials> before_;  // the totals of each loop at the last test
};

}  // namespace weir::observe
