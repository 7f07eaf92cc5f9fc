#include "net/resolver.h"

#include <netdb.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "net/loop.h"

namespace weir::net {
namespace {

std::string lookup_error(const std::string& host, int error, int system_error) {
  if (error == EAI_NONAME || error == EAI_NODATA || error == EAI_ADDRFAMILY) {
    return "unknown host " + host + "; check the spelling or use an IP address";
  }
  const std::string reason =
      error == EAI_SYSTEM ? std::system_category().message(system_error) : std::string(::gai_strerror(error));
  return "cannot resolve " + host + ": " + reason + "; check this machine's DNS resolver";
}

Resolver::Found find_addresses(const std::string& host, std::uint16_t port, int flags) {
  addrinfo wanted{};
  wanted.ai_flags = AI_NUMERICSERV | flags;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &list);
  if (error != 0) return {.addresses = {}, .problem = lookup_error(host, error, errno)};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(list, ::freeaddrinfo);
  Resolver::Found found;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    sockaddr_storage storage{};
    std::memcpy(&storage, entry->ai_addr, entry->ai_addrlen);
    found.addresses.push_back(Address::from_system(storage, entry->ai_addrlen));
  }
  return found;
}

}  // namespace

// Shared with its thread, which may outlive the loop and then drops its result.
class Resolver::Worker {
 public:
  struct LookUp {
    std::string host;
    std::uint16_t port;
    std::weak_ptr<const void> owner;
    Done done;
  };

  explicit Worker(Loop& loop) noexcept : loop_(&loop) {}

  void take(LookUp look_up) {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(look_up));
    }
    changed_.notify_one();
  }

  void end() {
    std::deque<LookUp> dropped;
    {
      const std::lock_guard lock(mutex_);
      loop_ = nullptr;
      dropped.swap(waiting_);
    }
    changed_.notify_one();
  }

  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return loop_ == nullptr || !waiting_.empty(); });
      if (loop_ == nullptr) return;
      const LookUp look_up = std::move(waiting_.front());
      waiting_.pop_front();
      if (look_up.owner.expired()) continue;
      lock.unlock();
      Found found = find_addresses(look_up.host, look_up.port, 0);
      lock.lock();
      if (loop_ != nullptr) loop_->post([done = look_up.done, found = std::move(found)] { done(found); });
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  Loop* loop_;  // null after end()
  std::deque<LookUp> waiting_;
};

Resolver::Found Resolver::read_ip(const std::string& host, std::uint16_t port) {
  return find_addresses(host, port, AI_NUMERICHOST);
}

Resolver::Resolver(Loop& loop) noexcept : loop_(loop) {}

Resolver::~Resolver() {
  if (worker_) worker_->end();
}

void Resolver::look_up(std::string host, std::uint16_t port, std::weak_ptr<const void> owner, Done done) {
  if (!worker_) {
    auto worker = std::make_shared<Worker>(loop_);
    try {
      std::thread([worker] { worker->work(); }).detach();
    } catch (const std::system_error& error) {
      const std::string problem = "cannot start the resolver thread: " + std::string(error.what()) +
                                  "; raise the thread limit (ulimit -u) or use an IP address";
      loop_.post([done = std::move(done), problem] { done({.addresses = {}, .problem = problem}); });
      return;
    }
    worker_ = std::move(worker);
  }
  worker_->take({std::move(host), port, std::move(owner), std::move(done)});
}

}  // namespace weir::net
