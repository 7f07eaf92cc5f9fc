#include "net/timer.h"

#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "net/loop.h"

namespace weir::net {

struct Timer::State {
  explicit State(Loop& loop) : timer(loop.context()) {}

  boost::asio::steady_timer timer;
  std::function<void()> work;  // empty: not set
};

Timer::Timer(Loop& loop) : state_(std::make_shared<State>(loop)) {}

Timer::~Timer() {
  cancel();
}

void Timer::set(std::chrono::steady_clock::time_point when, std::function<void()> work) {
  state_->work = std::move(work);
  state_->timer.expires_at(when);
  state_->timer.async_wait([weak = std::weak_ptr(state_), when](const boost::system::error_code& error) {
    const auto state = weak.lock();
    if (error || !state || !state->work || state->timer.expiry() != when) return;  // it came too late to be cancelled
    const std::function<void()> due = std::exchange(state->work, nullptr);
    due();
  });
}

void Timer::cancel() {
  state_->work = nullptr;
  state_->timer.cancel();
}

}  // namespace weir::net
