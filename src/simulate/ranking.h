// The consumers with the most occurrences, in bounded memory (the space-saving algorithm, evicting in batches).
//
// 1. With at most `max_entries` consumers, every count is exact.
// 2. Beyond that, the half with the lowest counts is evicted whenever the list is full. A consumer added afterwards may
//    have occurred up to `error` times before.
// 3. For every consumer in the list, count <= true count <= count + error. A consumer that occurred more than
//    forgotten() times is in the list.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/distinct.h"

namespace weir::simulate {

class Ranking {
 public:
  static constexpr std::size_t max_entries = 4096;

  struct Entry {
    std::uint64_t count = 0;
    std::uint64_t error = 0;
    std::string name;  // set by the caller; see needs_name()
  };

  struct Ranked {
    std::uint64_t consumer = 0;  // the keyed hash
    std::uint64_t count = 0;
    std::uint64_t error = 0;
    std::string name;
  };

  // The result is valid until the next call.
  Entry& add(std::uint64_t consumer);

  // True if the caller should set the name. After an eviction, only consumers that occur twice get a name.
  [[nodiscard]] static bool needs_name(const Entry& entry) noexcept {
    return entry.name.empty() && (entry.error == 0 || entry.count > 1);
  }

  // Returns the highest counts in descending order. Ties are ordered by hash, so that reports are reproducible.
  [[nodiscard]] std::vector<Ranked> top(std::size_t length) const;

  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }
  [[nodiscard]] bool is_exact() const noexcept { return forgotten_ == 0; }
  [[nodiscard]] std::uint64_t forgotten() const noexcept { return forgotten_; }

  // Returns the number of consumers, within a few percent if not exact.
  [[nodiscard]] std::uint64_t consumers() const noexcept { return is_exact() ? entries_.size() : seen_.estimate(); }

 private:
  // Returns its argument unchanged, because consumers are already hashes.
  struct AsIs {
    std::size_t operator()(std::uint64_t hash) const noexcept { return hash; }
  };

  void forget_half();

  std::unordered_map<std::uint64_t, Entry, AsIs> entries_;
  std::uint64_t total_ = 0;
  engine::DistinctEstimate seen_;
  std::uint64_t forgotten_ = 0;  // the maximum count of a consumer that is not in the list
};

}  // namespace weir::simulate
