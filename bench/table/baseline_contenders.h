// Hand-written baselines: hash maps of strings with locks. They must not change.
// Lookups take a string_view; a std::string is created only for a new key.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/strings/string_view.h>

#include <array>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "table/block_clock.h"
#include "table/contender.h"
#include "table/meter.h"

namespace bench::table {

// absl::flat_hash_map in 256 stripes, each with a lock.
class AbslStriped {
 public:
  explicit AbslStriped(Quota quota) : meter_(quota) {}

  bool decide(std::string_view key) {
    const absl::string_view name(key.data(), key.size());
    Stripe& stripe = stripes_[(Map::hasher{}(name) >> 32) % stripes_.size()];
    const std::lock_guard lock(stripe.mutex);
    auto entry = stripe.map.find(name);
    if (entry == stripe.map.end()) entry = stripe.map.try_emplace(name).first;
    return meter_.admit(entry->second, BlockClock::block_time());
  }

  std::size_t decide(const KeyBlock& block) { return decide_one_by_one(*this, block); }

 private:
  using Map = absl::flat_hash_map<std::string, TokenBucket>;

  struct alignas(64) Stripe {
    std::mutex mutex;
    Map map;
  };

  Meter meter_;
  std::array<Stripe, 256> stripes_;
};

// std::unordered_map behind one mutex.
class StdMutex {
 public:
  explicit StdMutex(Quota quota) : meter_(quota) {}

  bool decide(std::string_view key) {
    const std::lock_guard lock(mutex_);
    auto entry = map_.find(key);
    if (entry == map_.end()) entry = map_.try_emplace(std::string(key)).first;
    return meter_.admit(entry->second, BlockClock::block_time());
  }

  std::size_t decide(const KeyBlock& block) { return decide_one_by_one(*this, block); }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard calls it so
  };

  Meter meter_;
  std::mutex mutex_;
  std::unordered_map<std::string, TokenBucket, Hash, std::equal_to<>> map_;
};

static_assert(Contender<AbslStriped> && Contender<StdMutex>);

}  // namespace bench::table
