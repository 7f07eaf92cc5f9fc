// The consumers that something happened to most often, in bounded memory (space-saving, evicting in batches).
//
// 1. While no more than `most` consumers occurred, every count is exact.
// 2. Beyond that, the half with the lowest counts is forgotten whenever there is no room. A consumer that comes
//    (again) after that may have occurred before, at most `error` times.
// 3. So for every consumer in the list: count <= true count <= count + error; and one that occurred more than
//    forgotten() times is in the list.
//
// One thread.
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
  static constexpr std::size_t most = 4096;

  struct Entry {
    std::uint64_t count = 0;
    std::uint64_t error = 0;
    std::string name;  // as its first occurrences tell; see wants_name()
  };

  struct Ranked {
    std::uint64_t consumer = 0;  // its keyed hash
    std::uint64_t count = 0;
    std::uint64_t error = 0;
    std::string name;
  };

  // Good until the next call.
  Entry& add(std::uint64_t consumer);

  // Whether it is time to give the entry a name. While consumers come and go, only those that come back get one.
  [[nodiscard]] static bool wants_name(const Entry& entry) noexcept {
    return entry.name.empty() && (entry.error == 0 || entry.count > 1);
  }

  // The highest counts, in their order; equals by their hash, so that a report can be repeated.
  [[nodiscard]] std::vector<Ranked> top(std::size_t length) const;

  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }
  [[nodiscard]] bool is_exact() const noexcept { return forgotten_ == 0; }
  [[nodiscard]] std::uint64_t forgotten() const noexcept { return forgotten_; }

  // How many consumers; within a few percent, if it is not exact.
  [[nodiscard]] std::uint64_t consumers() const noexcept { return is_exact() ? entries_.size() : seen_.estimate(); }

 private:
  // Consumers are keyed hashes already.
  struct AsIs {
    std::size_t operator()(std::uint64_t hash) const noexcept { return hash; }
  };

  void forget_half();

  std::unordered_map<std::uint64_t, Entry, AsIs> entries_;
  std::uint64_t total_ = 0;
  engine::DistinctEstimate seen_;
  std::uint64_t forgotten_ = 0;  // the most that a consumer not in the list can have
};

}  // namespace weir::simulate
