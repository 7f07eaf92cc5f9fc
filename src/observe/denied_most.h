// The consumers that were denied most of late, by limit. One for each loop: its thread counts, any thread reads.
//
// Two sketches take turns, each for half an hour, so what is told is of the last half hour and of as much as one more.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "observe/space_saving.h"
#include "weir/time.h"

namespace weir::observe {

struct DeniedConsumer {
  std::string limit;
  std::string consumer;     // as ConsumerNames writes it
  std::uint64_t count = 0;  // of denials, at most
  std::uint64_t error = 0;  // so many fewer, at most

  friend bool operator==(const DeniedConsumer&, const DeniedConsumer&) = default;
};

class DeniedMost {
 public:
  static constexpr std::size_t usual_entries = 1024;

  explicit DeniedMost(std::size_t entries = usual_entries)
      : halves_{SpaceSaving(entries), SpaceSaving(entries)}, half_hours_{0, 0} {}

  // `limit` stays as long as this. `write_name(std::string&)` appends the consumer's name, where it is not known yet.
  template <class WriteName>
  void count(const std::string& limit, std::uint64_t consumer, Instant now, WriteName&& write_name) {
    const std::lock_guard guard(mutex_);
    SpaceSaving::Entry& entry = current(now).add({&limit, consumer});
    if (entry.name.empty()) write_name(entry.name);
  }

  // The first `most` of all of them together, the most denied first.
  [[nodiscard]] static std::vector<DeniedConsumer> top(std::span<const DeniedMost* const> all, std::size_t most,
                                                       Instant now);

 private:
  class Merge;

  // The sketch of this half hour, empty if it has just begun.
  SpaceSaving& current(Instant now) noexcept;

  mutable std::mutex mutex_;
  std::array<SpaceSaving, 2> halves_;
  std::array<std::int64_t, 2> half_hours_;  // of each sketch, since the epoch
};

}  // namespace weir::observe
