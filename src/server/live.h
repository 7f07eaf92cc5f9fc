// The last minutes of a server: per-second counts, notices and spikes. One thread adds a sample per second; any thread
// may read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "frontend/admin/feed.h"
#include "observe/history.h"
#include "observe/log_line.h"
#include "observe/log_writer.h"
#include "observe/notices.h"
#include "observe/seconds.h"
#include "observe/spikes.h"
#include "observe/top_denied.h"
#include "weir/time.h"

namespace weir::server {

class Live {
 public:
  // `log` must outlive this object. `memory_budget` is state.memory.
  Live(Instant start, observe::LogWriter& log, std::uint64_t memory_budget)
      : log_(log), memory_budget_(memory_budget), meter_(start) {}

  struct Sample {
    Instant at{};
    observe::SecondMeter::Totals totals{};
    observe::Gauges gauges{};
    std::string store_error{};                          // the last error, if the store is unavailable
    std::map<std::string, std::uint64_t> overflowed{};  // decisions on shared states, by limit
    std::vector<const observe::TopDenied*> denied{};    // one per loop
  };
  void add(Sample sample);

  // Thread-safe.
  void note(observe::Notice notice) { notices_.add(std::move(notice)); }
  void changed(Instant at, const observe::MadeChange& change);

  [[nodiscard]] frontend::Feed& feed() noexcept { return feed_; }
  [[nodiscard]] const observe::History& history() const noexcept { return history_; }
  [[nodiscard]] const observe::Notices& notices() const noexcept { return notices_; }
  [[nodiscard]] observe::Spikes& spikes() noexcept { return spikes_; }

 private:
  static constexpr Duration overflow_pause = std::chrono::hours(1);  // minimum time between two notices about one limit
  static constexpr std::size_t max_reported_consumers =
      10;  // maximum number of consumers reported per minute; the metric counts all

  void report_store(const Sample& sample);
  void report_overflow(const Sample& sample);
  void report_spikes(const Sample& sample, const observe::MeasuredSecond& measured);
  void report_spike(Instant at, const observe::Spikes::Spike& spike, const std::string& consumer);

  observe::LogWriter& log_;
  const std::uint64_t memory_budget_;
  frontend::Feed feed_;
  observe::History history_;
  observe::Notices notices_;
  observe::Spikes spikes_;

  // Used only by the thread that calls add().
  struct Overflow {
    std::uint64_t seen = 0;
    Instant reported_at{};
  };
  observe::SecondMeter meter_;
  observe::StoreState store_ = observe::StoreState::local;
  std::map<std::string, Overflow> overflows_;
  Instant minute_{};  // the minute that reported_consumers_ counts
  std::size_t reported_consumers_ = 0;
  std::uint64_t last_message_ = 0;  // id of the last message
  std::uint64_t last_notice_ = 0;   // id of the last notice that was sent
};

}  // namespace weir::server
