// The last ten minutes by second, for all limits together and for each active limit, up to a maximum. Thread-safe.
//
// At most 600 * (sizeof(Second) + max_limits * 12) bytes: 1.9 MB.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "observe/recent_traffic.h"
#include "observe/seconds.h"

namespace weir::observe {

class History {
 public:
  static constexpr std::size_t length = 600;
  static constexpr std::size_t max_limits = 256;

  void add(const MeasuredSecond& measured);

  // Oldest first.
  [[nodiscard]] std::vector<Second> seconds() const;

  // Returns a limit's counts in the last `max_count` seconds, zero while it was idle. Returns nothing if there was no
  // room for the limit: the first max_limits limits are tracked, each until it has been idle for ten minutes.
  [[nodiscard]] std::optional<std::vector<TrafficCounts>> of(std::string_view limit,
                                                             std::size_t max_count = length) const;

 private:
  // 32 bits suffice for one second.
  struct Counts {
    std::uint32_t decisions = 0;
    std::uint32_t denied = 0;
    std::uint32_t shadow_denied = 0;
  };
  struct Series {
    std::uint64_t last_active = 0;  // value of added_ when the limit was last active
    std::array<Counts, length> counts{};
  };

  [[nodiscard]] std::size_t size() const noexcept { return added_ < length ? added_ : length; }
  [[nodiscard]] Series* series_of(std::string_view limit);

  mutable std::mutex mutex_;
  std::uint64_t added_ = 0;
  std::vector<Second> seconds_ = std::vector<Second>(length);  // a ring, indexed by added_ % length
  std::map<std::string, std::unique_ptr<Series>, std::less<>> limits_;
  std::uint64_t overlooked_at_ = 0;  // value of added_ when a limit last found no room
};

}  // namespace weir::observe
