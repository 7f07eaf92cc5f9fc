// The server side of one HTTP/2 connection, without sockets: bytes in, requests out; responses in, bytes out.
//
//   alive = server.receive(bytes);
//   for (Exchange* exchange : server.updated()) serve(*exchange);   // begin, reply, end; or refuse
//   server.write(out);
//   if (!alive || server.over()) close();
//
// All requests that one read completes are available together, and all responses leave with one write. Memory is
// bounded (Limits). Not thread-safe.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/object_pool.h"
#include "weir/header.h"
#include "weir/time.h"
#include "wire/http2/block_pool.h"
#include "wire/http2/exchange.h"

namespace weir::wire::http2 {

class Server {
 public:
  explicit Server(const Limits& limits = {});
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Returns false if the connection must be closed, after write().
  [[nodiscard]] bool receive(std::span<const char> bytes);

  // The exchanges that received input in the last receive(). They may already be closed().
  [[nodiscard]] std::span<Exchange* const> updated() const noexcept { return updated_; }

  // Keeps the exchange and its data valid until release(), even if it is closed().
  void retain(Exchange& exchange) noexcept { exchange.retained_ = true; }
  void release(Exchange& exchange) noexcept;

  // Sends a response of header fields only, `:status` first.
  void refuse(Exchange& exchange, std::span<const Header> head);

  // Sends a response in parts: begin() with the head (constants), then reply() and send() any number of times, then
  // end().
  void begin(Exchange& exchange, std::span<const Header> head);
  [[nodiscard]] std::string& reply(Exchange& exchange) noexcept { return exchange.reply_; }
  void send(Exchange& exchange);
  // The names of trailers must be constants.
  void end(Exchange& exchange, std::span<const Header> trailers);

  // Resets the stream with REFUSED_STREAM, CANCEL or ENHANCE_YOUR_CALM.
  void reset(Exchange& exchange, std::uint32_t code);
  // The number of streams reset before their response was complete, including malformed and expired requests.
  [[nodiscard]] std::uint64_t aborted() const noexcept { return aborted_; }

  // Appends everything that can be sent now, and clears updated().
  void write(std::string& out);
  // Appends everything that can be sent now and keeps updated(). Writing responses soon after they are made is
  // cheapest.
  void write_answers(std::string& out);

  // True if more than Limits::unsent_bytes wait for the peer's windows.
  [[nodiscard]] bool clogged() const noexcept { return unsent_ > limits_.unsent_bytes; }

  // Resets requests that have been incomplete for `timeout`.
  void expire(std::chrono::steady_clock::time_point now, Duration timeout);

  // Announces the shutdown; requests in flight are still served. refuse_more() then rejects new ones.
  void announce_end();
  void refuse_more();

  [[nodiscard]] std::span<Exchange* const> open() const noexcept { return open_; }
  // True if nothing more will be received or sent.
  [[nodiscard]] bool over() const noexcept;

 private:
  struct Events;  // nghttp2 callbacks

  // Usually the exchange that was looked up last.
  [[nodiscard]] Exchange* find(std::int32_t stream) noexcept {
    return last_ != nullptr && last_->stream_ == stream ? last_ : look_up(stream);
  }
  [[nodiscard]] Exchange* look_up(std::int32_t stream) noexcept;
  Exchange& open_exchange(std::int32_t stream);
  void close_exchange(Exchange& exchange) noexcept;
  void give_back(Exchange& exchange) noexcept;
  void mark_updated(Exchange& exchange) noexcept;
  void clear_updated() noexcept;
  // True if an exchange may buffer `size` bytes.
  [[nodiscard]] bool has_room(std::size_t size) const noexcept {
    return size <= limits_.reserved_bytes || buffered_ + (size - limits_.reserved_bytes) <= limits_.buffered_bytes;
  }
  [[nodiscard]] std::size_t counted(const Exchange& exchange) const noexcept {
    return exchange.buffered() - std::min(exchange.buffered(), limits_.reserved_bytes);
  }
  void store_field(Exchange& exchange, Field field, std::string_view value);
  void append_body(Exchange& exchange, std::string_view chunk);
  void count_reply(Exchange& exchange) noexcept;
  void submit_trailers(Exchange& exchange) noexcept;

  const Limits limits_;
  BlockPool pool_;  // must outlive session_
  struct Delete {
    void operator()(nghttp2_session* session) const noexcept { nghttp2_session_del(session); }
  };
  std::unique_ptr<nghttp2_session, Delete> session_;

  FieldMemory memory_;
  base::ObjectPool<Exchange> exchanges_;
  std::vector<Exchange*> open_;
  std::vector<Exchange*> updated_;
  std::vector<Exchange*> left_;  // closed while in updated_
  Exchange* last_ = nullptr;     // the last looked up
  std::size_t buffered_ = 0;     // bytes buffered by all exchanges beyond their reserved_bytes
  std::size_t unsent_ = 0;
  std::uint64_t aborted_ = 0;
};

}  // namespace weir::wire::http2
