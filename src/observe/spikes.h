// Sudden bursts: a rate against its own recent past.
//
// The test: the last seconds brought more than twice as much as any stretch of the same length in the hour before, and
// at least 30, and five a second. It is made for four lengths: 3 and 5 seconds tell a step of steady traffic at once; a
// minute and five minutes tell one that lasts, where bursts of a few seconds, or a job every hour, are usual. For a day
// after one was told it takes three times as much, and for an hour more than twice the rate that was told. In the first
// five minutes of a rate it takes three times as much, in 3 or 5 seconds, and a minute with 30 in every five seconds
// before them, so that traffic that begins is none. No variance is estimated and nothing is learnt: whatever came once
// within the hour is known, so that a burst that recurs is told once, and so is a new level that stays. (The hour has
// 62 minutes, for what comes hourly, but not to the second.)
//
// For one thread, but for what says otherwise.
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

// The sums over all stretches of one length, in steps of a few seconds: the last one, and the highest of the past hour
// that have no second in common with it.
class Stretch {
 public:
  // The length is a multiple of the step: at most 20 times.
  constexpr Stretch(std::uint16_t length, std::uint16_t step) noexcept
      : length_(length), step_(step), parts_(static_cast<std::uint16_t>(length / step)) {}

  // What one second brought. Whether the sum is another one with it.
  bool add(std::uint32_t count) noexcept;

  [[nodiscard]] std::uint16_t length() const noexcept { return length_; }  // seconds
  [[nodiscard]] std::uint32_t sum() const noexcept { return sum_; }
  [[nodiscard]] std::uint32_t max_of_past() const noexcept;

 private:
  static constexpr std::size_t max_parts = 20;
  static constexpr std::size_t period = 120;  // seconds, of which the highest sum is kept
  static constexpr std::size_t past_periods = 31;

  void remember(std::uint32_t sum) noexcept;

  std::array<std::uint32_t, past_periods> periods_{};  // the highest sum of each, but for the one that runs
  std::array<std::uint32_t, max_parts> last_{};        // the steps of the sum
  std::array<std::uint32_t, max_parts> waiting_{};     // sums that overlap with the next one
  std::uint32_t highest_ = 0;                          // sum of the period that runs
  std::uint32_t sum_ = 0;
  std::uint32_t gathered_ = 0;  // of the step that runs
  std::uint32_t seconds_ = 0;
  std::uint16_t length_;
  std::uint16_t step_;
  std::uint16_t parts_;
};

// Of one rate, in 1.3 kB.
class SpikeTest {
 public:
  static constexpr std::uint16_t max_stretch = 300;
  static constexpr std::uint32_t first_seconds = 300;    // in which it takes more
  static constexpr std::uint32_t silent_seconds = 60;    // of traffic, in which nothing is told
  static constexpr std::uint16_t max_initial_range = 5;  // stretch that is compared then
  static constexpr std::uint64_t factor = 2;
  static constexpr std::uint64_t factor_again = 3;  // for a day; and in the first minutes
  static constexpr std::uint32_t least = 30;        // in a stretch
  static constexpr std::uint32_t min_rate = 5;      // a second
  static constexpr std::size_t calm_seconds = 5;    // after which a spike is over
  static constexpr std::uint32_t longest = 3'600;   // seconds, after which it is what is usual

  enum class State : std::uint8_t { none, begins, lasts, ends };

  // Of a rate that is known to have been next to nothing so far: what comes is told from its first second on.
  [[nodiscard]] static SpikeTest after_silence() noexcept {
    SpikeTest test;
    test.seconds_ = first_seconds;
    return test;
  }

  // What one second brought, less than 2^32 in the longest stretch. Called once for each second, also if it is nothing.
  State add(std::uint32_t count) noexcept;

  // Of the stretch by which it was told, and the most of the past of that length.
  struct Rates {
    double now = 0;  // a second
    double past = 0;
    std::uint32_t seconds = 0;  // the stretch
  };
  [[nodiscard]] Rates rates() const noexcept;

 private:
  [[nodiscard]] static std::uint32_t min_sum_of(const Stretch& stretch) noexcept {
    return std::max(least, min_rate * stretch.length());
  }
  [[nodiscard]] bool is_sudden(const Stretch& stretch, std::uint32_t past) const noexcept;
  [[nodiscard]] State go_on() noexcept;

  std::array<Stretch, 4> stretches_{{{3, 1}, {5, 1}, {60, 5}, {max_stretch, 15}}};
  std::uint32_t seconds_ = 0;
  std::uint32_t busy_seconds_ = 0;  // with enough behind them to be compared
  std::uint32_t told_ = 0;          // in which second the last began; 0: none has
  std::uint32_t past_ = 0;          // when it began
  float told_rate_ = 0;             // the highest while it lasted, a second
  std::uint8_t by_ = 0;             // which stretch
  std::uint8_t calm_ = 0;
  bool lasts_ = false;
};

// The tests of all limits, by their decisions, and of consumers that are denied a lot, by their denials.
class Spikes {
 public:
  static constexpr std::size_t max_limits = 1'000;
  static constexpr std::size_t max_consumers = 1'024;
  // A consumer with fewer denials in a second is as one with none.
  static constexpr std::uint64_t noticed = 10;

  struct Spike {
    std::string limit{};
    std::uint64_t consumer = 0;  // a keyed hash; 0: all of the limit
    SpikeTest::Rates rates{};
    const TopDenied* from = nullptr;  // who knows the consumer's name
  };

  // The limits of the policy that is in force from now on. Of those that it had before the past is known, and that is
  // nothing where they decided nothing.
  void know(std::span<const std::string> names);

  // What the limits decided in the last `seconds`, which are mostly one; what is not there decided nothing. Gives those
  // whose spike begins now.
  [[nodiscard]] std::vector<Spike> add_limits(std::span<const LimitTraffic> limits, std::size_t seconds, Instant now);

  // The same of consumers, by what they were denied since the start.
  [[nodiscard]] std::vector<Spike> add_consumers(std::span<const TopDenied* const> denied, std::size_t seconds);

  // From any thread.
  struct Lasting {
    Instant since{};
    SpikeTest::Rates rates{};
  };
  [[nodiscard]] std::optional<Lasting> lasting(std::string_view limit) const;
  struct Told {
    std::uint64_t limits = 0;
    std::uint64_t consumers = 0;
  };
  [[nodiscard]] std::map<std::string, Told> told() const;

 private:
  struct OfLimit {
    SpikeTest test;
    Instant since{};  // the spike, while it lasts
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
    std::uint64_t silent = 0;  // seconds
    std::uint64_t added = 0;   // in this second
    const TopDenied* from = nullptr;
  };
  using Denials = std::unordered_map<Key, std::uint64_t, KeyHash>;

  void notice_consumers(const TopDenied& denied, const std::vector<TopDenied::Count>& counts);

  mutable std::mutex mutex_;  // guards limits_ and told_
  std::map<std::string, OfLimit, std::less<>> limits_;
  std::map<std::string, Told> told_;
  std::unordered_map<Key, OfConsumer, KeyHash> consumers_;
  std::size_t watched_ = 0;                               // seconds
  std::unordered_map<const TopDenied*, Denials> before_;  // of each loop
};

}  // namespace weir::observe
