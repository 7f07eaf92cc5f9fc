#include "load/client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "net/descriptor.h"

namespace bench::load {
namespace {

using weir::net::Descriptor;

constexpr std::chrono::seconds answer_timeout{10};  // until any response
constexpr std::size_t input_size = std::size_t{256} << 10U;

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

Descriptor connected(std::uint16_t port) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fail("connect");
  weir::net::set_option(socket, IPPROTO_TCP, TCP_NODELAY);
  return socket;
}

std::chrono::nanoseconds processor_time() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// State shared by all connections.
struct Shared {
  explicit Shared(const Extent& given) : extent(given), keys(given.keys) {}

  [[nodiscard]] std::uint64_t left() const noexcept {
    if (over) return 0;
    return extent.requests == 0 ? UINT64_MAX : extent.requests - begun;
  }

  const Extent& extent;
  Numbers keys;
  Tally tally;
  SteadyTime now;
  std::uint64_t begun = 0;
  bool over = false;  // no new requests
};

class Connection final : private AnswerSink {
 public:
  Connection(Shared& shared, std::unique_ptr<Protocol> protocol)
      : shared_(shared), protocol_(std::move(protocol)), socket_(connected(shared.extent.port)), input_(input_size) {}
  virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] int number() const noexcept { return socket_.number(); }
  [[nodiscard]] bool waits() const noexcept { return in_flight_ > 0; }

  void begin() {
    note_sent(1);
    send(protocol_->opening(shared_.keys));
  }

  // Reads all available input.
  void on_ready() {
    if (!unsent_.empty()) send({});
    for (;;) {
      const ssize_t count = ::recv(number(), input_.data() + held_, input_.size() - held_, MSG_DONTWAIT);
      if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
      if (count < 0) fail("recv");
      if (count == 0) throw WrongAnswer("the server closed the connection");
      const bool is_all = held_ + static_cast<std::size_t>(count) < input_.size();
      take(static_cast<std::size_t>(count));
      if (is_all) return;
    }
  }

 private:
  void answered(std::uint64_t number, bool admitted) override {
    SteadyTime& sent = sent_[number % max_in_flight_requests];
    if (number >= next_ || sent == SteadyTime{}) throw WrongAnswer("an answer to nothing that was asked");
    shared_.tally.latencies.add(shared_.now - std::exchange(sent, SteadyTime{}));
    ++(admitted ? shared_.tally.admitted : shared_.tally.denied);
    --in_flight_;
  }

  void take(std::size_t count) {
    held_ += count;
    shared_.now = std::chrono::steady_clock::now();
    const std::size_t done = protocol_->read({input_.data(), held_}, *this, said_);
    if (done == 0 && held_ == input_.size()) throw WrongAnswer("an answer is too long");
    std::copy(input_.begin() + static_cast<std::ptrdiff_t>(done), input_.begin() + static_cast<std::ptrdiff_t>(held_),
              input_.begin());
    held_ -= done;
    if (!said_.empty()) send(std::exchange(said_, {}));
    if (in_flight_ == 0 || protocol_->out_of_order()) refill();
  }

  void refill() {
    std::size_t count = shared_.extent.pipeline - std::min(in_flight_, shared_.extent.pipeline);
    count = static_cast<std::size_t>(std::min<std::uint64_t>(count, shared_.left()));
    count = protocol_->may_send(count, in_flight_);
    std::size_t free = 0;
    while (free < count && sent_[(next_ + free) % max_in_flight_requests] == SteadyTime{}) ++free;
    if (free == 0) return;
    note_sent(free);
    send(protocol_->next(free, shared_.keys));
  }

  void note_sent(std::size_t count) {
    const SteadyTime now = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < count; ++i) sent_[next_++ % max_in_flight_requests] = now;
    in_flight_ += count;
    shared_.begun += count;
  }

  // Unsent bytes are sent when the socket is writable.
  void send(std::string_view bytes) {
    if (!unsent_.empty()) {
      unsent_ += bytes;
      bytes = unsent_;
    }
    while (!bytes.empty()) {
      const ssize_t count = ::send(number(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno != EAGAIN) fail("send");
      if (count < 0) break;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    unsent_ = std::string(bytes);
  }

  Shared& shared_;
  std::unique_ptr<Protocol> protocol_;
  Descriptor socket_;
  std::vector<char> input_;
  std::size_t held_ = 0;
  std::string unsent_;
  std::string said_;  // protocol frames to send
  std::uint64_t next_ = 0;
  std::size_t in_flight_ = 0;
  std::array<SteadyTime, max_in_flight_requests> sent_{};  // by number, for requests in flight
};

// Calls the connections that are ready.
class Watch {
 public:
  explicit Watch(std::span<const std::unique_ptr<Connection>> connections) : epoll_(::epoll_create1(0)) {
    for (const auto& connection : connections) {
      epoll_event event{};
      event.events = EPOLLIN | EPOLLOUT | EPOLLET;
      event.data.ptr = connection.get();
      if (::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, connection->number(), &event) != 0) fail("epoll_ctl");
    }
  }

  void wait() {
    std::array<epoll_event, 256> events;
    const auto timeout = std::chrono::milliseconds(answer_timeout).count();
    const int count = ::epoll_wait(epoll_.number(), events.data(), events.size(), static_cast<int>(timeout));
    if (count < 0 && errno != EINTR) fail("epoll_wait");
    if (count == 0) throw WrongAnswer("no answer for " + std::to_string(answer_timeout.count()) + " s");
    for (int i = 0; i < count; ++i) static_cast<Connection*>(events[static_cast<std::size_t>(i)].data.ptr)->on_ready();
  }

 private:
  Descriptor epoll_;
};

}  // namespace

Result run(const Extent& extent, const MakeProtocol& make_protocol) {
  Shared shared(extent);
  std::vector<std::unique_ptr<Connection>> connections;
  for (std::size_t i = 0; i < extent.connections; ++i) {
    connections.push_back(std::make_unique<Connection>(shared, make_protocol()));
  }
  Watch watch(connections);
  const SteadyTime begin = std::chrono::steady_clock::now();
  const auto processor_before = processor_time();
  for (const auto& connection : connections) {
    if (shared.left() > 0) connection->begin();
  }
  shared.now = begin;
  while (shared.tally.answered() < shared.begun || shared.left() > 0) {
    watch.wait();
    shared.over = extent.time.count() > 0 && shared.now - begin >= extent.time;
  }
  return {shared.tally, std::chrono::steady_clock::now() - begin, processor_time() - processor_before};
}

}  // namespace bench::load
