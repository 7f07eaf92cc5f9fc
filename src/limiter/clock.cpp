#include "weir/clock.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "limiter/clock_course.h"

namespace weir {
namespace {

using limiter::ClockCourse;
using limiter::ClockReading;

constexpr std::int64_t measure_every = 1'000'000;

template <class AnyClock>
std::int64_t micros_of() noexcept {
  return std::chrono::duration_cast<Duration>(AnyClock::now().time_since_epoch()).count();
}

ClockReading read_both() noexcept {
  return {micros_of<std::chrono::steady_clock>(), micros_of<std::chrono::system_clock>()};
}

// Waits on `clock` for `until` in steps, because a timed wait does not support times in the far future.
void wait_in_pieces(const Clock& clock, Instant until, const std::stop_token& stop) {
  constexpr Duration max_sleep = std::chrono::hours{1};
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  for (Instant now = clock.now(); now < until && !stop.stop_requested(); now = clock.now()) {
    const Duration piece = now + max_sleep < until ? max_sleep : until - now;
    stopped.wait_for(lock, stop, piece, [] { return false; });
  }
}

}  // namespace

// The course is read without a lock: a reader that observes a change reads again. The first reader that finds the
// course older than a second updates it, so it changes at most once per second.
struct WallClock::Discipline {
  std::atomic<std::uint64_t> version{0};  // odd while the course changes
  std::atomic<std::int64_t> steady, time, slow_until;
  std::mutex changing;

  explicit Discipline(const ClockCourse& course) { set(course); }

  void set(const ClockCourse& course) noexcept {
    steady.store(course.steady, std::memory_order_release);
    time.store(course.time, std::memory_order_release);
    slow_until.store(course.slow_until, std::memory_order_release);
  }

  [[nodiscard]] ClockCourse get() const noexcept {
    for (;;) {
      const std::uint64_t before = version.load(std::memory_order_acquire);
      const ClockCourse course{steady.load(std::memory_order_acquire), time.load(std::memory_order_acquire),
                               slow_until.load(std::memory_order_acquire)};
      if (before % 2 == 0 && version.load(std::memory_order_relaxed) == before) return course;
    }
  }

  void measure() noexcept {
    const std::unique_lock lock(changing, std::try_to_lock);
    if (!lock) return;
    const ClockCourse course = get().corrected(read_both());
    const std::uint64_t before = version.load(std::memory_order_relaxed);
    version.store(before + 1, std::memory_order_relaxed);
    set(course);
    version.store(before + 2, std::memory_order_release);
  }
};

WallClock::WallClock() : discipline_(std::make_unique<Discipline>(ClockCourse::beginning(read_both()))) {}

WallClock::~WallClock() = default;

Instant WallClock::now() const noexcept {
  const std::int64_t steady = micros_of<std::chrono::steady_clock>();
  const ClockCourse course = discipline_->get();
  if (steady - course.steady >= measure_every) discipline_->measure();
  return Instant{Duration{course.at(steady)}};
}

void WallClock::wait_until(Instant until, std::stop_token stop) const {
  wait_in_pieces(*this, until, stop);
}

Instant ManualClock::now() const noexcept {
  const std::lock_guard lock(mutex_);
  return now_;
}

void ManualClock::wait_until(Instant until, std::stop_token stop) const {
  std::unique_lock lock(mutex_);
  if (now_ >= until) return;
  ++waiters_;
  changed_.notify_all();
  changed_.wait(lock, stop, [&] { return now_ >= until; });
  --waiters_;
}

void ManualClock::set(Instant now) {
  const std::lock_guard lock(mutex_);
  now_ = now;
  changed_.notify_all();
}

void ManualClock::advance(Duration by) {
  const std::lock_guard lock(mutex_);
  now_ += by;
  changed_.notify_all();
}

void ManualClock::await_waiters(int count) const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return waiters_ >= count; });
}

}  // namespace weir
