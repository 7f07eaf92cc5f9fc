// Sudden bursts: a rate against its own recent past.
//
// The test: the last three seconds brought more than twice as much as any three seconds in the hour before, and at
// least 30. For a day after one was told it takes three times as much. The first five minutes of a rate tell nothing.
// No variance is estimated and nothing is learnt: whatever came once within the hour is known, so that a burst that
// recurs is told once, and so is a new level that stays. (The hour has 62 minutes, for what comes hourly, but not to
// the second.)
//
// For one thread, but for what says otherwise.
#pragma once

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

#include "observe/denied_most.h"
#include "observe/recent_traffic.h"
#include "weir/time.h"

namespace weir::observe {

// Of one rate, in 300 bytes.
class SpikeTest {
 public:
  static constexpr std::size_t window = 3;  // seconds that are compared
  static constexpr std::size_t past_minutes = 62;
  static constexpr std::size_t first_seconds = 300;  // in which nothing is told
  static constexpr std::uint64_t factor = 2;
  static constexpr std::uint64_t factor_again = 3;  // for a day
  static constexpr std::uint64_t least = 30;        // in a window
  static constexpr std::size_t calm_seconds = 5;    // after which a spike is over

  enum class State : std::uint8_t { none, begins, lasts, ends };

  // Of a rate that is known to have been next to nothing so far: what comes is told from its first second on.
  [[nodiscard]] static SpikeTest after_silence() noexcept {
    SpikeTest test;
    test.seconds_ = first_seconds;
    return test;
  }

  // What one second brought. Called once for each second, also if it is nothing.
  State add(std::uint32_t count) noexcept;

  // Of the last window, and the most of the past one, by which it was told.
  struct Rates {
    double now = 0;  // a second
    double past = 0;
  };
  [[nodiscard]] Rates rates() const noexcept;

 private:
  [[nodiscard]] std::uint32_t most_of_past() const noexcept;
  void remember(std::uint32_t sum) noexcept;

  std::array<std::uint32_t, past_minutes> minutes_{};  // the highest sum of each, but for the one that runs
  std::array<std::uint32_t, window> last_{};           // the seconds of the window
  std::array<std::uint32_t, window> waiting_{};        // sums of windows that overlap with the next one
  std::uint32_t minute_ = 0;                           // the highest sum of the minute that runs
  std::uint32_t sum_ = 0;
  std::uint32_t past_ = 0;  // when the spike began
  std::uint32_t seconds_ = 0;
  std::uint32_t told_ = 0;  // in which second the last began; 0: none has
  std::uint16_t calm_ = 0;
  bool lasts_ = false;
};

// The tests of all limits, by their decisions, and of consumers that are denied a lot, by their denials.
class Spikes {
 public:
  static constexpr std::size_t most_limits = 1'000;
  static constexpr std::size_t most_consumers = 1'024;
  // A consumer with fewer denials in a second is as one with none.
  static constexpr std::uint64_t noticed = SpikeTest::least / SpikeTest::window;

  struct Spike {
    std::string limit{};
    std::uint64_t consumer = 0;  // a keyed hash; 0: all of the limit
    SpikeTest::Rates rates{};
    const DeniedMost* from = nullptr;  // who knows the consumer's name
  };

  // The limits of the policy that is in force from now on. Of those that it had before the past is known, and that is
  // nothing where they decided nothing.
  void know(std::span<const std::string> names);

  // What the limits decided in the last `seconds`, which are mostly one; what is not there decided nothing. Gives those
  // whose spike begins now.
  [[nodiscard]] std::vector<Spike> add_limits(std::span<const LimitTraffic> limits, std::size_t seconds, Instant now);

  // The same of consumers, by what they were denied since the start.
  [[nodiscard]] std::vector<Spike> add_consumers(std::span<const DeniedMost* const> denied, std::size_t seconds);

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
    const DeniedMost* from = nullptr;
  };
  using Denials = std::unordered_map<Key, std::uint64_t, KeyHash>;

  void notice_consumers(const DeniedMost& denied, const std::vector<DeniedMost::Count>& counts);

  mutable std::mutex mutex_;  // guards limits_ and told_
  std::map<std::string, OfLimit, std::less<>> limits_;
  std::map<std::string, Told> told_;
  std::unordered_map<Key, OfConsumer, KeyHash> consumers_;
  std::size_t watched_ = 0;                                // seconds
  std::unordered_map<const DeniedMost*, Denials> before_;  // of each loop
};

}  // namespace weir::observe
