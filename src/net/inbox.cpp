#include "net/inbox.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

namespace weir::net {

Inbox::Inbox(Poller& poller) : bell_(poller, *this) {
  Descriptor bell(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!bell.open() || !bell_.take(std::move(bell), Interest::input)) {
    throw std::system_error(errno, std::system_category(), "eventfd");
  }
}

// The loop itself need not be woken: it looks here before it waits.
void Inbox::put(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    works_.push_back(std::move(work));
  }
  if (!waiting_.exchange(true) && !in_loop_thread()) ring();
}

void Inbox::stop() noexcept {
  stopped_ = true;
  ring();
}

// The flag goes down first: what is put after that raises it again, whether it is taken now or not.
void Inbox::run_all() {
  waiting_ = false;
  {
    const std::lock_guard lock(mutex_);
    running_.swap(works_);
  }
  for (auto& work : running_) {
    if (stopped()) break;
    std::exchange(work, nullptr)();  // what it holds goes with it
  }
  running_.clear();
}

void Inbox::on_ready(Readiness /*it rings*/) {
  std::uint64_t rings = 0;
  (void)!::read(bell_.number(), &rings, sizeof rings);
}

void Inbox::ring() noexcept {
  const std::uint64_t once = 1;
  (void)!::write(bell_.number(), &once, sizeof once);
}

}  // namespace weir::net
