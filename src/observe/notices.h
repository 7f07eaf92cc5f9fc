// What happened that an operator wants to know of: reloads, the store's going and coming, states that are shared for
// want of memory, spikes, changes by hand. The last thousand are kept. Callable from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "observe/log_line.h"
#include "weir/time.h"

namespace weir::observe {

struct Notice {
  enum class Kind : std::uint8_t { start, reload, store, overflow, spike, change };

  Kind kind = Kind::start;
  Level level = Level::info;
  std::string limit{};     // empty: none in particular
  std::string consumer{};  // as ConsumerNames writes it; empty: none in particular
  std::string message{};
  Instant at{};
  std::uint64_t id = 0;  // from one, without a gap
};

[[nodiscard]] std::string_view name_of(Notice::Kind kind) noexcept;

class Notices {
 public:
  static constexpr std::size_t most = 1'000;
  static constexpr std::size_t max_message_size = 1'024;  // longer ones are cut: a refused policy has many lines

  // Gives it its id.
  void add(Notice notice);

  // The newest first, `count` at most.
  [[nodiscard]] std::vector<Notice> newest(std::size_t count) const;
  // Those with a higher id, the oldest first.
  [[nodiscard]] std::vector<Notice> after(std::uint64_t id) const;

 private:
  mutable std::mutex mutex_;
  std::deque<Notice> notices_;  // the oldest first
  std::uint64_t last_id_ = 0;
};

}  // namespace weir::observe
