#include "net/outgoing.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>
#include <vector>

#include "net/buffers.h"
#include "net/dialer.h"
#include "net/poller.h"
#include "net/timer.h"
#include "net/tls_stream.h"

namespace weir::net {

namespace {

constexpr const char* tls_advice = "; check the CA, the server name, and that the port speaks TLS";

std::string connection_error(int error) {
  return "connection lost: " + std::system_category().message(error);
}

}  // namespace

// One connection of an Outgoing, from dialling through the TLS handshake to its end. The owner is called only when
// dialling completes or the socket is ready.
class OutgoingConnection final : public std::enable_shared_from_this<OutgoingConnection>, private Watcher {
 public:
  OutgoingConnection(Loop& loop, std::shared_ptr<const OutgoingOptions> options, Outgoing::Owner& owner)
      : loop_(loop),
        options_(std::move(options)),
        owner_(&owner),
        handshake_timer_(loop),
        socket_(loop.poller(), *this),
        wire_(options_->tls ? TlsStream::wire_size : 0),
        input_(options_->input_bound) {}

  void start() {
    deadline_ = SteadyTime::clock::now() + options_->timeout;
    dialer_ = std::make_shared<Dialer>(loop_, options_->endpoint, deadline_);
    dialer_->start([self = shared_from_this()](Result<Descriptor> dialled) {
      self->dialer_ = nullptr;
      if (dialled) {
        self->take_socket(std::move(*dialled));
      } else {
        self->lose(std::move(dialled.error()));
      }
    });
  }

  void send(std::string_view bytes) {
    if (stage_ != Stage::open) return;
    if (unsent() + bytes.size() > options_->output_bound) {
      lose("the server does not read: " + std::to_string(unsent()) + " bytes are unsent");
      return;
    }
    out_.append(bytes);
    if (!in_owner_) flush();
  }

  // Ensures that the owner is not called again.
  void close() {
    owner_ = nullptr;
    if (stage_ == Stage::closed) return;
    send_close_notify();
    stage_ = Stage::closed;
    if (dialer_) dialer_->cancel();
    dialer_ = nullptr;
    handshake_timer_.cancel();
    socket_.close();
  }

  [[nodiscard]] bool open() const noexcept { return stage_ == Stage::open; }
  [[nodiscard]] std::size_t unsent() const noexcept { return out_.size() + sender_.unsent(); }

 private:
  enum class Stage : std::uint8_t { dialling, handshake, open, closed };

  void take_socket(Descriptor socket) {
    if (!socket_.take(std::move(socket), Interest::input)) {
      lose(connection_error(errno));
      return;
    }
    if (!options_->tls) {
      enter_open();
      return;
    }
    stage_ = Stage::handshake;
    const Endpoint& endpoint = options_->endpoint;
    tls_ = TlsStream::make_client(options_->tls->context(),
                                  options_->server_name.empty() ? endpoint.host : options_->server_name);
    if (!tls_) {
      lose("TLS requires a server name to verify the certificate against; set one");
      return;
    }
    handshake_timer_.set(deadline_, [this] { lose("TLS handshake timed out; check that the port speaks TLS"); });
    continue_handshake();
  }

  void continue_handshake() {
    const auto state = tls_->handshake();
    const std::string problem = state == TlsStream::Handshake::failed ? tls_->problem() : std::string();
    flush();  // after a failure this sends the alert
    if (stage_ == Stage::closed) return;
    if (state == TlsStream::Handshake::failed) lose("TLS failed: " + problem + tls_advice);
    if (state == TlsStream::Handshake::done) enter_open();
  }

  void enter_open() {
    stage_ = Stage::open;
    handshake_timer_.cancel();
    call([this] { owner_->on_connected(); });
  }

  template <class Work>
  void call(const Work& work) {
    in_owner_ = true;
    work();
    in_owner_ = false;
    flush();
  }

  // The next read reports a socket error.
  void on_ready(Readiness ready) override {
    const auto self = shared_from_this();
    readable_ |= ready.input;
    until_eagain_ |= ready.until_eagain;
    if (ready.output && std::exchange(writing_, false)) {
      flush();
      if (!writing_) socket_.want(Interest::input);
    }
    if (readable_ && stage_ != Stage::closed) read();
    if (readable_) socket_.ask_for_turn();
  }

  void read() {
    const std::span<char> room = tls_ ? std::span<char>(wire_) : input_.room();
    const ssize_t count = ::recv(socket_.number(), room.data(), room.size(), 0);
    const int error = count < 0 ? errno : 0;
    readable_ = std::cmp_equal(count, room.size()) || (count > 0 && until_eagain_) || error == EINTR;
    if (count > 0) {
      take_input(static_cast<std::size_t>(count));
    } else if (error != EAGAIN && error != EINTR) {
      const std::string closed = error == 0 ? "the server closed the connection" : connection_error(error);
      lose(stage_ == Stage::handshake ? std::string("connection lost during the TLS handshake") + tls_advice : closed);
    }
  }

  void take_input(std::size_t count) {
    if (!tls_) {
      input_.fill(count);
      offer();
      return;
    }
    tls_->receive(std::span(wire_).first(count));
    if (stage_ == Stage::handshake) continue_handshake();
    if (stage_ == Stage::open) decrypt();
  }

  // Decrypts everything received, at most input_bound bytes per call of the owner.
  void decrypt() {
    auto reading = TlsStream::Reading::full;
    std::string problem;
    while (stage_ == Stage::open && reading == TlsStream::Reading::full) {
      const std::size_t before = input_.pending().size();
      reading = tls_->read(input_);
      if (reading == TlsStream::Reading::failed) problem = tls_->problem();
      if (input_.pending().size() > before) offer();
    }
    if (stage_ != Stage::open) return;
    if (reading == TlsStream::Reading::failed) lose("TLS failed: " + problem);
    if (reading == TlsStream::Reading::ended) lose("the server closed the connection");
    flush();  // TLS may have its own records to send
  }

  void offer() {
    std::size_t consumed = 0;
    call([&] { consumed = owner_->on_bytes(input_.pending()); });
    input_.consume(consumed);
    if (stage_ == Stage::open && consumed == 0 && input_.at_bound()) {
      lose("received more than " + std::to_string(options_->input_bound) + " bytes without a complete message");
    }
  }

  // Sends the rest when the socket becomes writable, if it does not accept everything now.
  void flush() {
    if (writing_ || stage_ == Stage::closed) return;
    switch (sender_.send(socket_.number(), tls_.get(), out_).state) {
      case Sender::State::done:
        break;
      case Sender::State::blocked:
        writing_ = true;
        socket_.want(Interest::both);
        break;
      case Sender::State::failed:
        lose(connection_error(errno));
        break;
      case Sender::State::tls_failed:
        lose("TLS failed: " + tls_->problem());
        break;
    }
  }

  // Sends the TLS close notification, which cannot be forged, if the socket accepts it at once.
  void send_close_notify() {
    if (!tls_ || stage_ != Stage::open || unsent() > 0) return;
    tls_->shut();
    std::string notice;
    tls_->take_wire(notice);
    (void)!::send(socket_.number(), notice.data(), notice.size(), MSG_NOSIGNAL);
  }

  void lose(std::string what) { lose(Error{options_->endpoint.text(), std::move(what)}); }

  // Posts on_lost, because this may run within a call from the owner.
  void lose(Error error) {
    if (stage_ == Stage::closed) return;
    Outgoing::Owner* const owner = owner_;
    close();
    owner_ = owner;
    loop_.post([self = shared_from_this(), error = std::move(error)] {
      if (self->owner_ != nullptr) self->owner_->on_lost(error);
    });
  }

  Loop& loop_;
  const std::shared_ptr<const OutgoingOptions> options_;
  Outgoing::Owner* owner_;  // null after close()
  std::shared_ptr<Dialer> dialer_;
  Timer handshake_timer_;
  Watched socket_;                  // open once dialled
  std::unique_ptr<TlsStream> tls_;  // null without TLS
  std::vector<char> wire_;          // encrypted input; empty without TLS
  InputBuffer input_;
  std::string out_;  // plain output that is not yet passed to sender_
  Sender sender_;

  Stage stage_ = Stage::dialling;
  SteadyTime deadline_;
  bool readable_ = false;      // the socket may have unread input
  bool until_eagain_ = false;  // a short read does not mean that the socket is empty
  bool writing_ = false;       // waiting until the socket is writable
  bool in_owner_ = false;      // a callback of the owner is running; its output is flushed afterwards
};

Outgoing::Outgoing(Loop& loop, OutgoingOptions options, Owner& owner)
    : loop_(loop), options_(std::make_shared<const OutgoingOptions>(std::move(options))), owner_(owner) {}

Outgoing::~Outgoing() {
  close();
}

void Outgoing::connect() {
  close();
  connection_ = std::make_shared<OutgoingConnection>(loop_, options_, owner_);
  connection_->start();
}

bool Outgoing::connected() const noexcept {
  return connection_ && connection_->open();
}

void Outgoing::send(std::string_view bytes) {
  if (connection_) connection_->send(bytes);
}

std::size_t Outgoing::unsent() const noexcept {
  return connection_ ? connection_->unsent() : 0;
}

void Outgoing::close() {
  if (const auto closed = std::exchange(connection_, nullptr)) closed->close();
}

}  // namespace weir::net
