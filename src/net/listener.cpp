#include "net/listener.h"

#include <chrono>
#include <mutex>
#include <utility>

#include "net/gate.h"
#include "net/reception.h"

namespace weir::net {
namespace {

tl::unexpected<Error> not_watched(const Address& address) {
  return failure(address.text(), "the system cannot watch the socket; raise fs.epoll.max_user_watches (sysctl)");
}

}  // namespace

Listener::Listener(Loops& loops, const Address& bound, ListenOptions options, MakeSession make_session)
    : loops_(loops),
      bound_(bound),
      reception_(std::make_shared<Reception>(std::move(options), std::move(make_session))) {
  for (std::size_t i = 0; i < loops.size(); ++i) {
    auto gate = std::make_shared<Gate>(loops[i], reception_);
    loops[i].run([&] {
      loops[i].every_tick([weak = std::weak_ptr(gate)](Moment now) {
        const auto alive = weak.lock();
        if (alive) alive->tick(now);
        return alive != nullptr;
      });
    });
    gates_.push_back(std::move(gate));
  }
}

Result<std::unique_ptr<Listener>> Listener::open(Loops& loops, const Address& address, ListenOptions options,
                                                 MakeSession make_session) {
  const int backlog = options.backlog;
  if (address.unix_socket()) {
    auto listening = listen_unix(address, options.unix_mode, backlog);
    if (!listening) return tl::unexpected(std::move(listening.error()));
    std::unique_ptr<Listener> listener(new Listener(loops, address, std::move(options), std::move(make_session)));
    listener->file_.emplace(std::move(listening->file));
    bool watched = false;
    loops[0].run([&] { watched = listener->gates_[0]->accept_on(std::move(listening->socket), listener->gates_); });
    if (!watched) return not_watched(address);
    return listener;
  }
  auto listening = listen_tcp(address, loops.size(), backlog);
  if (!listening) return tl::unexpected(std::move(listening.error()));
  std::unique_ptr<Listener> listener(
      new Listener(loops, listening->bound, std::move(options), std::move(make_session)));
  for (std::size_t i = 0; i < loops.size(); ++i) {
    const auto& gate = listener->gates_[i];
    bool watched = false;
    loops[i].run([&] { watched = gate->accept_on(std::move(listening->sockets[i]), {gate}); });
    if (!watched) return not_watched(address);
  }
  return listener;
}

Listener::~Listener() {
  stop_accepting();
  for (std::size_t i = 0; i < gates_.size(); ++i) {
    loops_[i].run([&] { gates_[i]->close_all(); });
  }
}

void Listener::stop_accepting() {
  file_.reset();  // first: a successor may take the path at once
  for (std::size_t i = 0; i < gates_.size(); ++i) {
    loops_[i].run([&] { gates_[i]->stop_accepting(); });
  }
}

ListenerCounts Listener::counts() const noexcept {
  const std::uint64_t refused = reception_->refused;  // first: there are never more of them than were accepted
  return {reception_->accepted,        refused,
          reception_->accept_failures, reception_->handshake_failures,
          reception_->timed_out,       reception_->overlong,
          reception_->faults,          reception_->open};
}

void Listener::start_drain() {
  stop_accepting();
  for (std::size_t i = 0; i < gates_.size(); ++i) {
    loops_[i].run([&] { gates_[i]->drain(); });
  }
}

std::size_t Listener::await_drained(Moment deadline) {
  const auto nobody = [&] { return reception_->open == 0; };
  std::unique_lock lock(reception_->mutex);
  if (reception_->empty.wait_until(lock, deadline, nobody)) return 0;
  lock.unlock();
  const std::size_t left = reception_->open;
  for (std::size_t i = 0; i < gates_.size(); ++i) {
    loops_[i].run([&] { gates_[i]->close_all(); });
  }
  return left;
}

std::size_t Listener::drain(Duration within) {
  start_drain();
  return await_drained(std::chrono::steady_clock::now() + within);
}

}  // namespace weir::net
