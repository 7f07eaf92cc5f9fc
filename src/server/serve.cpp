#include "server/serve.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "net/descriptor.h"

namespace weir::server {
namespace {

using SteadyClock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds tick_interval{1000};

// Notifies systemd (sd_notify): `READY=1`, `RELOADING=1`, `STOPPING=1`. Does nothing without NOTIFY_SOCKET.
void notify_service_manager(std::string_view state) noexcept {
  const char* const path = std::getenv("NOTIFY_SOCKET");  // NOLINT(concurrency-mt-unsafe): nothing here sets it
  if (path == nullptr) return;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t length = std::strlen(path);
  if (length < 2 || length >= sizeof address.sun_path) return;
  std::memcpy(address.sun_path, path, length);
  if (path[0] == '@') address.sun_path[0] = '\0';  // an abstract socket
  try {
    std::string message(state);
    if (state == "RELOADING=1") {
      const auto now = std::chrono::steady_clock::now().time_since_epoch();
      message +=
          "\nMONOTONIC_USEC=" + std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
    }
    const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (socket < 0) return;
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
    (void)::sendto(socket, message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                   reinterpret_cast<const sockaddr*>(&address), size);
    ::close(socket);
  } catch (...) {  // NOLINT(bugprone-empty-catch): out of memory; the notification is optional
  }
}

// Waits for signals, and for an event that other threads raise.
class Wakeups {
 public:
  Wakeups() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) sigaddset(&set, signal);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
    signals_ = net::Descriptor(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    event_ = net::Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  }

  [[nodiscard]] bool opened() const noexcept { return signals_.open() && event_.open(); }

  void raise() const noexcept {
    const std::uint64_t one = 1;
    (void)!::write(event_.number(), &one, sizeof one);
  }

  // Returns a signal, or 0 after the event or at `until`.
  [[nodiscard]] int wait(SteadyClock::time_point until) const noexcept {
    const auto remaining = std::chrono::ceil<std::chrono::milliseconds>(until - SteadyClock::now());
    std::array<pollfd, 2> watched{{{signals_.number(), POLLIN, 0}, {event_.number(), POLLIN, 0}}};
    (void)::poll(watched.data(), watched.size(), static_cast<int>(std::max(remaining.count(), std::int64_t{0})));
    std::uint64_t raised = 0;
    (void)!::read(event_.number(), &raised, sizeof raised);
    signalfd_siginfo signal{};
    const bool has_signal = ::read(signals_.number(), &signal, sizeof signal) == sizeof signal;
    return has_signal ? static_cast<int>(signal.ssi_signo) : 0;
  }

 private:
  net::Descriptor signals_;
  net::Descriptor event_;
};

class ServeLoop {
 public:
  ServeLoop(Server& server, std::function<void(const Server&)> on_ready)
      : server_(server), on_ready_(std::move(on_ready)), saved_(SteadyClock::now()) {}

  // Returns at SIGTERM or SIGINT, or at `end`.
  void run_until(const Wakeups& wakeups, SteadyClock::time_point end) {
    auto next_tick = SteadyClock::now() + tick_interval;
    while (SteadyClock::now() < end) {
      announce_ready();
      const int signal = wakeups.wait(std::min(next_tick, end));
      server_.answer_requests();
      if (signal == SIGTERM || signal == SIGINT) return;
      if (signal == SIGHUP) reload("SIGHUP received");
      if (signal == SIGUSR1) reopen_log();
      if (SteadyClock::now() < next_tick) continue;
      next_tick = SteadyClock::now() + tick_interval;
      on_tick();
    }
  }

 private:
  // Called before each wait: the server may have become ready before the wake-up was set.
  void announce_ready() {
    if (!on_ready_ || !server_.is_ready()) return;
    std::exchange(on_ready_, nullptr)(server_);
    notify_service_manager("READY=1");
  }

  void reload(std::string_view why) {
    const bool is_announced = !on_ready_;
    if (is_announced) notify_service_manager("RELOADING=1");
    server_.log().info("reloading configuration: " + std::string(why));
    (void)server_.reload();  // the outcome is in the log
    if (is_announced) notify_service_manager("READY=1");
  }

  void reopen_log() {
    if (const auto opened = server_.log().writer().reopen(); !opened) server_.log().error(opened.error().message());
  }

  void on_tick() {
    server_.tick();
    if (server_.files_changed()) reload("file changed");
    const auto every = server_.config().state.snapshot_every;
    if (!every || SteadyClock::now() - saved_ < *every) return;
    saved_ = SteadyClock::now();
    server_.save();
  }

  Server& server_;
  std::function<void(const Server&)> on_ready_;  // empty once it has been called
  SteadyClock::time_point saved_;
};

}  // namespace

Result<void> serve(Sources sources, Loaded loaded, std::string version,
                   const std::function<void(const Server&)>& on_ready) {
  const Wakeups wakeups;
  if (!wakeups.opened())
    return failure("signals", "signalfd cannot be opened: " + std::generic_category().message(errno));
  auto server = Server::start(std::move(sources), std::move(loaded), std::move(version));
  if (!server) return tl::unexpected(server.error());
  (*server)->on_request([&wakeups] { wakeups.raise(); });
  ServeLoop loop(**server, on_ready);
  loop.run_until(wakeups, SteadyClock::time_point::max());
  notify_service_manager("STOPPING=1");
  if (const Duration grace = (*server)->config().grace; grace > Duration::zero()) {
    (*server)->announce_stop();
    loop.run_until(wakeups, SteadyClock::now() + grace);
  }
  (*server)->stop();
  return {};
}

}  // namespace weir::server
