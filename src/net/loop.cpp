#include "net/loop.h"

#include <pthread.h>

#include <atomic>
#include <csignal>
#include <exception>
#include <future>
#include <iterator>
#include <list>
#include <string>
#include <thread>
#include <utility>

#include "net/alarms.h"
#include "net/inbox.h"
#include "net/poller.h"
#include "net/resolver.h"

namespace weir::net {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Signals belong to the program's own thread: a thread inherits what is blocked when it is made.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

struct Loop::State {
  State(Loop& its_loop, Duration every) : loop(its_loop), tick(every), resolver(its_loop) { wait_for_tick(); }

  void wait_for_tick() {
    alarms.set(next_tick, loop.now_ + tick, [this] {
      loop.now_ = SteadyClock::now();
      for (auto work = tickers.begin(); work != tickers.end();)
        work = (*work)(loop.now_) ? std::next(work) : tickers.erase(work);
      wait_for_tick();
    });
  }

  void run() {
    inbox.enter();
    while (!inbox.stopped()) {
      poller.wait(inbox.waiting() ? Poller::Patience::none : Poller::Patience::endless);
      if (inbox.waiting()) inbox.run_all();
    }
  }

  Loop& loop;
  Poller poller;
  Alarms alarms{poller};
  Inbox inbox{poller};  // after the others: what is dropped with it may use them
  Duration tick;
  Alarm next_tick;
  std::list<std::function<bool(SteadyClock::time_point)>> tickers;  // a list: one that runs may add another
  std::atomic<bool> running = false;
  std::thread thread;
  Resolver resolver;  // last: until it is gone, it posts
};

Loop::Loop(std::size_t index, Duration tick) : index_(index), state_(std::make_unique<State>(*this, tick)) {}

Loop::~Loop() {
  stop();
}

void Loop::start() {
  if (state_->running) return;
  const SignalsBlocked blocked;
  state_->running = true;
  try {
    state_->thread = std::thread([state = state_.get()] { state->run(); });
  } catch (...) {
    state_->running = false;
    throw;
  }
  pthread_setname_np(state_->thread.native_handle(), ("weir-loop-" + std::to_string(index_)).c_str());
}

void Loop::stop() noexcept {
  state_->inbox.stop();
  if (state_->thread.joinable()) state_->thread.join();
  state_->running = false;
}

void Loop::post(std::function<void()> work) {
  state_->inbox.put(std::move(work));
}

void Loop::run(const std::function<void()>& work) {
  if (!state_->running || state_->inbox.in_loop_thread()) {
    work();
    return;
  }
  std::promise<void> done;
  post([&] {
    work();
    done.set_value();
  });
  done.get_future().wait();
}

void Loop::every_tick(std::function<bool(SteadyClock::time_point)> work) {
  state_->tickers.push_back(std::move(work));
}

Poller& Loop::poller() noexcept {
  return state_->poller;
}

Alarms& Loop::alarms() noexcept {
  return state_->alarms;
}

Resolver& Loop::resolver() noexcept {
  return state_->resolver;
}

Result<std::unique_ptr<Loops>> Loops::make(std::size_t count, Duration tick) {
  if (count == 0) return failure("loops", "there must be at least one");
  if (tick <= Duration::zero()) return failure("tick", "must be longer than nothing");
  std::unique_ptr<Loops> loops(new Loops);
  try {
    for (std::size_t i = 0; i < count; ++i) loops->loops_.push_back(std::unique_ptr<Loop>(new Loop(i, tick)));
  } catch (const std::exception& error) {
    return failure("event loop", std::string(error.what()) + "; raise the limit of open files (ulimit -n)");
  }
  return loops;
}

Loops::~Loops() {
  stop();
}

Result<void> Loops::start() {
  try {
    for (const auto& loop : loops_) loop->start();
  } catch (const std::exception& error) {
    stop();
    return failure("event loop", std::string("its thread cannot be started: ") + error.what() +
                                     "; raise the limit of threads (ulimit -u), or use fewer loops");
  }
  return {};
}

void Loops::stop() noexcept {
  for (const auto& loop : loops_) loop->state_->inbox.stop();
  for (const auto& loop : loops_) loop->stop();
}

}  // namespace weir::net
