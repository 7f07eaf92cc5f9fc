// What is put on a Redis server, and how fast it goes: so many requests under way at all times.
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
  distinct_keys,  // a limit for each of a million users, who come in no order
  user_and_all,   // such a limit and one for all of them together
  hot_key,        // one limit for one user
};

inline constexpr std::uint32_t users = 1'000'000;

// GCRA, wide enough that nobody is denied. A user's charges count for a second each: all million are kept.
struct Numbers {
  std::int64_t token_us;
  std::uint64_t burst;
};
inline constexpr Numbers of_a_user{1'000'000, 1'000'000};
inline constexpr Numbers of_many{1, 1'000'000'000};  // of the hot one, and of all together

// One after the other, each once before any comes again.
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

// Begun and ended on the loop's thread.
class Load {
 public:
  virtual ~Load() = default;
  virtual void begin(Work work, std::size_t under_way) = 0;
  virtual void end() = 0;  // those under way are still answered

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
