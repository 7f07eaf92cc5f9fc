#include "net/poller.h"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace weir::net {
namespace {

std::uint32_t events_of(Interest interest) noexcept {
  constexpr std::uint32_t input = EPOLLIN | EPOLLPRI | EPOLLRDHUP;
  if (interest == Interest::input) return EPOLLET | input;
  return interest == Interest::output ? EPOLLET | EPOLLOUT : EPOLLET | input | EPOLLOUT;
}

Readiness readiness_of(std::uint32_t events) noexcept {
  const bool failed = (events & (EPOLLERR | EPOLLHUP)) != 0;
  return {.input = failed || (events & (EPOLLIN | EPOLLPRI)) != 0,
          .output = failed || (events & EPOLLOUT) != 0,
          .until_eagain = failed || (events & (EPOLLPRI | EPOLLRDHUP)) != 0};
}

epoll_event event_of(Watcher& watcher, Interest interest) noexcept {
  epoll_event event{};
  event.events = events_of(interest);
  event.data.ptr = &watcher;
  return event;
}

}  // namespace

Poller::Poller() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (!epoll_.open()) throw std::system_error(errno, std::system_category(), "epoll");
  turns_.reserve(max_batch_size);
  taking_turns_.reserve(max_batch_size);
}

bool Poller::add(int descriptor, Watcher& watcher, Interest interest) noexcept {
  epoll_event event = event_of(watcher, interest);
  return ::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, descriptor, &event) == 0;
}

void Poller::change(int descriptor, Watcher& watcher, Interest interest) noexcept {
  epoll_event event = event_of(watcher, interest);
  ::epoll_ctl(epoll_.number(), EPOLL_CTL_MOD, descriptor, &event);  // cannot fail for an added descriptor
}

void Poller::remove(int descriptor, Watcher& watcher) noexcept {
  ::epoll_ctl(epoll_.number(), EPOLL_CTL_DEL, descriptor, nullptr);
  for (epoll_event& event : left_) {
    if (event.data.ptr == &watcher) event.data.ptr = nullptr;
  }
  std::ranges::replace(taking_turns_, &watcher, nullptr);
  if (std::exchange(watcher.awaits_turn_, false)) std::erase(turns_, &watcher);
}

void Poller::give_turn(Watcher& watcher) {
  if (!std::exchange(watcher.awaits_turn_, true)) turns_.push_back(&watcher);
}

void Poller::wait(WaitMode mode) {
  const bool at_once = mode == WaitMode::poll || !turns_.empty();
  const int count = ::epoll_wait(epoll_.number(), events_.data(), static_cast<int>(events_.size()), at_once ? 0 : -1);
  left_ = std::span(events_).first(count > 0 ? static_cast<std::size_t>(count) : 0);  // negative after a signal
  taking_turns_.swap(turns_);
  while (!left_.empty()) {
    const epoll_event event = left_.front();
    left_ = left_.subspan(1);
    if (event.data.ptr != nullptr) static_cast<Watcher*>(event.data.ptr)->on_ready(readiness_of(event.events));
  }
  take_turns();
}

void Poller::take_turns() {
  for (Watcher*& watcher : taking_turns_) {
    if (watcher == nullptr) continue;
    watcher->awaits_turn_ = false;
    std::exchange(watcher, nullptr)->on_ready({});
  }
  taking_turns_.clear();
}

}  // namespace weir::net
