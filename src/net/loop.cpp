#include "net/loop.h"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <exception>
#include <future>
#include <iterator>
#include <list>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "net/poller.h"
#include "net/resolver.h"
#include "net/timer.h"

namespace weir::net {
namespace {

// Blocks all signals while the thread of a loop is created. The thread inherits the mask, so the main thread handles
// signals.
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

// The work posted to a loop.
class WorkQueue final : private Watcher {
 public:
  explicit WorkQueue(Poller& poller) : event_(poller, *this) {  // throws std::system_error
    Descriptor event(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    if (!event.open() || !event_.take(std::move(event), Interest::input)) {
      throw std::system_error(errno, std::system_category(), "eventfd");
    }
  }

  // Thread-safe. Does not wake the loop when called on its thread, because the loop checks the queue before it waits.
  void put(std::function<void()> work) {
    {
      const std::lock_guard lock(mutex_);
      works_.push_back(std::move(work));
    }
    if (!waiting_.exchange(true) && !in_loop_thread()) wake();
  }
  void stop() noexcept {
    stopped_ = true;
    wake();
  }
  [[nodiscard]] bool stopped() const noexcept { return stopped_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool in_loop_thread() const noexcept { return loop_thread_.load() == std::this_thread::get_id(); }

  // Makes the calling thread the loop's thread; the functions below must be called on it.
  void enter() noexcept { loop_thread_ = std::this_thread::get_id(); }
  [[nodiscard]] bool waiting() const noexcept { return waiting_.load(std::memory_order_relaxed); }

  // Runs everything queued now, in order; work added by it runs in the next round. Clears the flag before it takes the
  // queue, so that a concurrent put() always sets it again.
  void run_all() {
    waiting_ = false;
    {
      const std::lock_guard lock(mutex_);
      running_.swap(works_);
    }
    for (auto& work : running_) {
      if (stopped()) break;
      std::exchange(work, nullptr)();  // destroys the function right after its call
    }
    running_.clear();
  }

 private:
  void on_ready(Readiness /*input*/) override {
    std::uint64_t wakes = 0;
    (void)!::read(event_.number(), &wakes, sizeof wakes);
  }
  void wake() noexcept {
    const std::uint64_t once = 1;
    (void)!::write(event_.number(), &once, sizeof once);
  }

  Watched event_;
  std::atomic<std::thread::id> loop_thread_;
  std::atomic<bool> waiting_ = false;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
  std::vector<std::function<void()>> works_;    // guarded by mutex_
  std::vector<std::function<void()>> running_;  // used only by the loop's thread
};

struct Loop::State {
  State(Loop& its_loop, Duration every) : loop(its_loop), tick(every), resolver(its_loop) { wait_for_tick(); }

  void wait_for_tick() {
    next_tick.set(loop.now_ + tick, [this] {
      loop.now_ = SteadyTime::clock::now();
      for (auto work = tickers.begin(); work != tickers.end();)
        work = (*work)(loop.now_) ? std::next(work) : tickers.erase(work);
      wait_for_tick();
    });
  }

  void run() {
    posted.enter();
    while (!posted.stopped()) {
      poller.wait(posted.waiting() ? Poller::WaitMode::poll : Poller::WaitMode::block);
      if (posted.waiting()) posted.run_all();
    }
  }

  Loop& loop;
  Poller poller;
  TimerQueue timers{poller};
  Timer next_tick{timers};
  WorkQueue posted{poller};  // declared after the others, because destroying dropped work may use them
  Duration tick;
  std::list<std::function<bool(SteadyTime)>> tickers;  // a list, because a running one may add another
  std::atomic<bool> running = false;
  std::thread thread;
  Resolver resolver;  // declared last, because it posts to the loop until it is destroyed
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
  state_->posted.stop();
  if (state_->thread.joinable()) state_->thread.join();
  state_->running = false;
}

void Loop::post(std::function<void()> work) {
  state_->posted.put(std::move(work));
}

void Loop::run(const std::function<void()>& work) {
  if (!state_->running || state_->posted.in_loop_thread()) {
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

void Loop::every_tick(std::function<bool(SteadyTime)> work) {
  state_->tickers.push_back(std::move(work));
}

Poller& Loop::poller() noexcept {
  return state_->poller;
}

TimerQueue& Loop::timers() noexcept {
  return state_->timers;
}

Resolver& Loop::resolver() noexcept {
  return state_->resolver;
}

Result<std::unique_ptr<Loops>> Loops::make(std::size_t count, Duration tick) {
  if (count == 0) return failure("loops", "must be at least 1");
  if (tick <= Duration::zero()) return failure("tick", "must be greater than 0");
  std::unique_ptr<Loops> loops(new Loops);
  try {
    for (std::size_t i = 0; i < count; ++i) loops->loops_.push_back(std::unique_ptr<Loop>(new Loop(i, tick)));
  } catch (const std::exception& error) {
    return failure("event loop", std::string(error.what()) + "; raise the open file limit (ulimit -n)");
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
    return failure("event loop", std::string("cannot start thread: ") + error.what() +
                                     "; raise the thread limit (ulimit -u) or use fewer loops");
  }
  return {};
}

void Loops::stop() noexcept {
  for (const auto& loop : loops_) loop->state_->posted.stop();
  for (const auto& loop : loops_) loop->stop();
}

}  // namespace weir::net
