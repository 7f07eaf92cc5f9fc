#include "net/resolver.h"

#include <netdb.h>

#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "net/loop.h"

namespace weir::net {
namespace {

Resolver::Found find(const std::string& host, std::uint16_t port, int flags) {
  addrinfo wanted{};
  wanted.ai_flags = AI_NUMERICSERV | flags;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  Resolver::Found found;
  found.error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &list);
  if (found.error != 0) return found;
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(list, ::freeaddrinfo);
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    sockaddr_storage storage{};
    std::memcpy(&storage, entry->ai_addr, entry->ai_addrlen);
    found.addresses.push_back(Address::from_system(storage, entry->ai_addrlen));
  }
  return found;
}

}  // namespace

class Resolver::Worker {
 public:
  struct Question {
    std::string host;
    std::uint16_t port;
    std::weak_ptr<const void> asker;
    Done done;
  };

  explicit Worker(Loop& loop) : loop_(loop), thread_([this] { work(); }) {}
  ~Worker() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void take(Question question) {
    {
      const std::lock_guard lock(mutex_);
      questions_.push_back(std::move(question));
    }
    changed_.notify_one();
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return over_ || !questions_.empty(); });
      if (over_) return;
      Question question = std::move(questions_.front());
      questions_.pop_front();
      lock.unlock();
      if (!question.asker.expired()) {
        loop_.post([done = std::move(question.done), found = find(question.host, question.port, 0)] { done(found); });
      }
      lock.lock();
    }
  }

  Loop& loop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Question> questions_;
  bool over_ = false;
  std::thread thread_;  // last: it uses all of them
};

Resolver::Found Resolver::read_ip(const std::string& host, std::uint16_t port) {
  return find(host, port, AI_NUMERICHOST);
}

Resolver::Resolver(Loop& loop) noexcept : loop_(loop) {}

Resolver::~Resolver() = default;

void Resolver::look_up(std::string host, std::uint16_t port, std::weak_ptr<const void> asker, Done done) {
  if (!worker_) worker_ = std::make_unique<Worker>(loop_);
  worker_->take({std::move(host), port, std::move(asker), std::move(done)});
}

}  // namespace weir::net
