// The last ten minutes, a second at a time: of all limits together, and of each that decided anything meanwhile, up to
// a bound. Callable from any thread.
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

  // The oldest first.
  [[nodiscard]] std::vector<Second> seconds() const;

  // What a limit decided in the last `most` of these seconds. Where it decided nothing, zeros; none: it is beyond
  // `max_limits`, which are those that came first and have not been idle for the whole time.
  [[nodiscard]] std::optional<std::vector<TrafficCounts>> of(std::string_view limit, std::size_t most = length) const;

 private:
  // A limit does not decide four billion times in a second.
  struct Counts {
    std::uint32_t decisions = 0;
    std::uint32_t denied = 0;
    std::uint32_t shadow_denied = 0;
  };
  struct Series {
    std::uint64_t last_active = 0;  // of added_
    std::array<Counts, length> counts{};
  };

  [[nodiscard]] std::size_t kept() const noexcept { return added_ < length ? added_ : length; }
  [[nodiscard]] Series* series_of(std::string_view limit);

  mutable std::mutex mutex_;
  std::uint64_t added_ = 0;
  std::vector<Second> seconds_ = std::vector<Second>(length);  // by added_ % length
  std::map<std::string, std::unique_ptr<Series>, std::less<>> limits_;
  std::uint64_t overlooked_at_ = 0;  // added_, when a limit found no room
};

}  // namespace weir::observe
