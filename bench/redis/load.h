// A load on a Redis server with a constant number of requests in flight.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weir::bench {

enum class Work : std::uint8_t {
  distinct_keys,  // a limit for each of a million users, in random order
  user_and_all,   // the same, and one limit for all of them
  hot_key,        // one limit for one user
};

inline constexpr std::uint32_t users = 1'000'000;

// GCRA limits that deny nothing. A user's charge lasts a second, so that all million states are live.
struct Numbers {
  std::int64_t token_us;
  std::uint64_t burst;
};
inline constexpr Numbers of_a_user{1'000'000, 1'000'000};
inline constexpr Numbers of_many{1, 1'000'000'000};  // of the hot key and of the limit for all

// A sequence that repeats no number before all have occurred.
class Keys {
 public:
  explicit Keys(std::string prefix) : prefix_(std::move(prefix)) {}

  void next(Work work, std::string& key) {
    key = prefix_;
    if (work == Work::hot_key) {
      key += "{api:hot}:gcra";
      return;
    }
    position_ = (position_ + 611'953) % users;
    key += "{api:user-";
    key += std::to_string(users + position_);
    key += "}:gcra";
  }
  void all(std::string& key) const { key = prefix_ + "{api:all}:gcra"; }

 private:
  std::string prefix_;
  std::uint32_t position_ = 0;
};

// Must be started and ended on the loop's thread.
class Load {
 public:
  virtual ~Load() = default;
  virtual void begin(Work work, std::size_t under_way) = 0;
  virtual void end() = 0;  // requests in flight are still answered

  [[nodiscard]] std::uint64_t answered() const noexcept { return answered_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t failed() const noexcept { return failed_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool idle() const noexcept { return under_way_.load(std::memory_order_relaxed) == 0; }

 protected:
  std::atomic<std::uint64_t> answered_ = 0;
  std::atomic<std::uint64_t> failed_ = 0;
  std::atomic<std::size_t> under_way_ = 0;
};

template <class Number>
Number percentile(std::vector<Number> values, std::size_t percent) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() * percent / 100);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace weir::bench
