#include "server/live.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include <fmt/core.h>

#include "frontend/admin/live_json.h"

namespace weir::server {
namespace {

using observe::Level;
using observe::Notice;
using observe::StoreState;

// Returns the number of seconds that a sample covers: at least one, even if the clock stood still or stepped back.
std::size_t whole_seconds(Duration span) noexcept {
  const auto rounded = std::chrono::round<std::chrono::seconds>(span).count();
  constexpr std::int64_t most = 600;  // bounds the result after the machine was suspended
  return static_cast<std::size_t>(std::clamp<std::int64_t>(rounded, 1, most));
}

}  // namespace

void Live::add(Sample sample) {
  const observe::MeasuredSecond measured = meter_.measure(sample.at, std::move(sample.totals), sample.gauges);
  history_.add(measured);
  report_store(sample);
  report_overflow(sample);
  report_spikes(sample, measured);
  const std::vector<Notice> notices = notices_.after(last_notice_);
  if (!notices.empty()) last_notice_ = notices.back().id;
  const auto second = std::chrono::floor<std::chrono::seconds>(sample.at.time_since_epoch()).count();
  last_message_ = std::max(last_message_ + 1, static_cast<std::uint64_t>(std::max<std::int64_t>(second, 0)));
  feed_.publish(frontend::second_message(last_message_, measured, memory_budget_, notices));
}

void Live::report_store(const Sample& sample) {
  const StoreState now = sample.gauges.store;
  const StoreState before = std::exchange(store_, now);
  if (before == now || (before == StoreState::local && now == StoreState::closed)) return;
  Notice notice{.kind = Notice::Kind::store, .level = Level::warning, .at = sample.at};
  if (now == StoreState::closed) {
    notice.level = Level::info;
    notice.message = "store available: circuit breaker closed";
  } else if (now == StoreState::half_open) {
    notice.message = "store probed: circuit breaker half-open";
  } else {
    notice.message = "store unavailable: circuit breaker open";
    if (!sample.store_error.empty()) notice.message += "; " + sample.store_error;
  }
  notices_.add(std::move(notice));
}

void Live::report_overflow(const Sample& sample) {
  for (const auto& [limit, count] : sample.overflowed) {
    Overflow& known = overflows_[limit];
    const bool is_more = count > std::exchange(known.seen, count);
    if (!is_more || (known.reported_at != Instant{} && sample.at - known.reported_at < overflow_pause)) continue;
    known.reported_at = sample.at;
    notices_.add({.kind = Notice::Kind::overflow,
                  .level = Level::warning,
                  .limit = limit,
                  .message = limit + " is out of memory: consumers share states; raise state.memory",
                  .at = sample.at});
  }
}

void Live::report_spikes(const Sample& sample, const observe::MeasuredSecond& measured) {
  const std::size_t seconds = whole_seconds(measured.second.span);
  for (const auto& spike : spikes_.add_limits(measured.limits, seconds, sample.at)) report_spike(sample.at, spike, {});
  const Instant minute = std::chrono::floor<std::chrono::minutes>(sample.at);
  if (std::exchange(minute_, minute) != minute) reported_consumers_ = 0;
  for (const auto& spike : spikes_.add_consumers(sample.denied, seconds)) {
    const std::string consumer = spike.from->name_of(spike.limit, spike.consumer);
    if (!consumer.empty() && reported_consumers_++ < max_reported_consumers) report_spike(sample.at, spike, consumer);
  }
}

void Live::report_spike(Instant at, const observe::Spikes::Spike& spike, const std::string& consumer) {
  std::string line;
  const observe::SpikeTest::Rates& rates = spike.rates;
  observe::append_spike(line, at, {spike.limit, consumer, rates.now, rates.past, rates.seconds});
  log_.write(line);
  const std::string_view what = consumer.empty() ? "decisions" : "denials of one consumer";
  const std::string message = fmt::format("{}: {:.0f} {} per second over {} s; at most {:.0f} in the hour before",
                                          spike.limit, rates.now, what, rates.seconds, rates.past);
  notices_.add({.kind = Notice::Kind::spike,
                .level = Level::warning,
                .limit = spike.limit,
                .consumer = consumer,
                .message = message,
                .at = at});
}

void Live::changed(Instant at, const observe::MadeChange& change) {
  std::string line;
  observe::append_change(line, at, change);
  log_.write(line);
  if (change.what == "reload") return;  // reload() adds its own notice
  notices_.add({.kind = Notice::Kind::change,
                .limit = change.limit,
                .consumer = change.consumer,
                .message = fmt::format("operator requested {} of {}: {}", change.what, change.limit, change.outcome),
                .at = at});
}

}  // namespace weir::server
