// Events for operators: reloads, outages of the store, states that are shared because memory is full, spikes, manual
// changes. Keeps the last thousand. Thread-safe.
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
  std::string limit{};     // empty: none
  std::string consumer{};  // as ConsumerNames writes it; empty: none
  std::string message{};
  Instant at{};
  std::uint64_t id = 0;  // from one, without gaps
};

[[nodiscard]] std::string_view name_of(Notice::Kind kind) noexcept;

class Notices {
 public:
  static constexpr std::size_t max_notices = 1'000;
  static constexpr std::size_t max_message_size = 1'024;  // longer ones are truncated: a rejected policy has many lines

  // Sets the id.
  void add(Notice notice);

  // Returns at most `count` notices, newest first.
  [[nodiscard]] std::vector<Notice> newest(std::size_t count) const;
  // Returns the notices with a higher id, oldest first.
  [[nodiscard]] std::vector<Notice> after(std::uint64_t id) const;

 private:
  mutable std::mutex mutex_;
  std::deque<Notice> notices_;  // oldest first
  std::uint64_t last_id_ = 0;
};

}  // namespace weir::observe
