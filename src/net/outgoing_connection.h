// What one Outgoing::connect() has begun: dialling, the handshake, then bytes. Internal to the room; see outgoing.h for
// what holds. All on the loop's thread.
//
// At most one read and one write wait at a time, and keep it alive. The owner is called from their handlers, and from
// nowhere else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/dialer.h"
#include "net/input_buffer.h"
#include "net/outgoing.h"
#include "net/tls_stream.h"

namespace weir::net {

class OutgoingConnection : public std::enable_shared_from_this<OutgoingConnection> {
 public:
  OutgoingConnection(Loop& loop, std::shared_ptr<const OutgoingOptions> options, Outgoing::Owner& owner);

  void start();
  void send(std::string_view bytes);
  void close();  // the owner is not called again

  [[nodiscard]] bool open() const noexcept { return stage_ == Stage::open; }
  [[nodiscard]] std::size_t unsent() const noexcept { return out_.size() + sending_.size() - sent_; }

 private:
  enum class Stage : std::uint8_t { dialling, handshake, open, closed };

  void take_socket(StreamSocket socket);
  void shake_hands();
  void enter_open();
  template <class Work>
  void call(const Work& work);

  void read();
  void on_read(const boost::system::error_code& error, std::size_t count);
  void decrypt();
  void offer();

  void flush();
  [[nodiscard]] bool next_to_send();

  void say_goodbye();
  void lose(std::string what);
  void lose(Error error);

  Loop& loop_;
  const std::shared_ptr<const OutgoingOptions> options_;
  Outgoing::Owner* owner_;  // null: closed by him
  std::shared_ptr<Dialer> dialer_;
  LoopTimer handshake_timer_;
  std::optional<StreamSocket> socket_;  // once it is dialled
  std::unique_ptr<TlsStream> tls_;      // null: plain
  std::vector<char> wire_;              // with TLS: where reads go
  InputBuffer input_;
  std::string out_;      // what was asked to be sent
  std::string sending_;  // as on the wire; up to sent_ it is gone
  std::size_t sent_ = 0;

  Stage stage_ = Stage::dialling;
  Moment deadline_;
  bool writing_ = false;   // until the socket takes more
  bool in_owner_ = false;  // he is being called: what he sends leaves afterwards
};

}  // namespace weir::net
