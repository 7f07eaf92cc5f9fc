// What one Outgoing::connect() has begun: dialling, the handshake, then bytes. Internal to the room; see outgoing.h for
// what holds. All on the loop's thread.
//
// The owner is called when the socket is dialled or ready, and from nowhere else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/dialer.h"
#include "net/input_buffer.h"
#include "net/outgoing.h"
#include "net/sender.h"
#include "net/timer.h"
#include "net/tls_stream.h"
#include "net/watched.h"

namespace weir::net {

class OutgoingConnection final : public std::enable_shared_from_this<OutgoingConnection>, private Watcher {
 public:
  OutgoingConnection(Loop& loop, std::shared_ptr<const OutgoingOptions> options, Outgoing::Owner& owner);

  void start();
  void send(std::string_view bytes);
  void close();  // the owner is not called again

  [[nodiscard]] bool open() const noexcept { return stage_ == Stage::open; }
  [[nodiscard]] std::size_t unsent() const noexcept { return out_.size() + sender_.unsent(); }

 private:
  enum class Stage : std::uint8_t { dialling, handshake, open, closed };

  void take_socket(Descriptor socket);
  void shake_hands();
  void enter_open();
  template <class Work>
  void call(const Work& work);

  void on_ready(Readiness ready) override;
  void read();
  void take_input(std::size_t count);
  void take_end(int error);
  void decrypt();
  void offer();

  void flush();

  void say_goodbye();
  void lose(std::string what);
  void lose(Error error);

  Loop& loop_;
  const std::shared_ptr<const OutgoingOptions> options_;
  Outgoing::Owner* owner_;  // null: closed by him
  std::shared_ptr<Dialer> dialer_;
  Timer handshake_timer_;
  Watched socket_;                  // open once it is dialled
  std::unique_ptr<TlsStream> tls_;  // null: plain
  std::vector<char> wire_;          // with TLS: where reads go
  InputBuffer input_;
  std::string out_;  // what was asked to be sent
  Sender sender_;

  Stage stage_ = Stage::dialling;
  Moment deadline_;
  bool readable_ = false;    // more may have come than was read
  bool to_the_end_ = false;  // a short read may not have found all
  bool writing_ = false;     // until the socket takes more
  bool in_owner_ = false;    // he is being called: what he sends leaves afterwards
};

}  // namespace weir::net
