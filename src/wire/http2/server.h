// The server's side of one HTTP/2 connection: bytes in, requests out; answers in, bytes out. No sockets.
//
//   alive = server.receive(bytes);
//   for (Exchange* exchange : server.updated()) serve(*exchange);   // begin, reply, end; or refuse
//   server.write(out);
//   if (!alive || server.over()) close();
//
// All requests that one read completes are there together, and all answers leave with one write. What a peer can make
// it hold is bounded (Limits). Not thread-safe.
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

  // False: there is no going on with this peer. What is to be said to it is in write().
  [[nodiscard]] bool receive(std::span<const char> bytes);

  // Those of which the last receive() brought something: the header fields, a part of the body, the end. They may be
  // gone() by now.
  [[nodiscard]] std::span<Exchange* const> updated() const noexcept { return updated_; }

  // It stays, with all that was received of it, also when it is gone(): until it is released.
  void keep(Exchange& exchange) noexcept { exchange.kept_ = true; }
  void release(Exchange& exchange) noexcept;

  // An answer of header fields alone, `:status` first.
  void refuse(Exchange& exchange, std::span<const Header> head);

  // An answer in parts: its head, of constants; what is appended to reply(), each time followed by send(); its
  // trailers.
  void begin(Exchange& exchange, std::span<const Header> head);
  [[nodiscard]] std::string& reply(Exchange& exchange) noexcept { return exchange.reply_; }
  void send(Exchange& exchange);
  // Names of trailers are constants.
  void end(Exchange& exchange, std::span<const Header> trailers);

  // The peer is told that it was given up: REFUSED_STREAM, CANCEL, ENHANCE_YOUR_CALM.
  void reset(Exchange& exchange, std::uint32_t code);
  // How many were, since the beginning, with those whose request was malformed or did not end.
  [[nodiscard]] std::uint64_t given_up() const noexcept { return given_up_; }

  // Appends all that can be sent now. Those that were updated() are so no more.
  void write(std::string& out);
  // The same while they are looked at. Answers that leave soon after they are made cost least.
  void write_answers(std::string& out);

  // Answers that wait for the peer to make room, in bytes, are beyond what is held for it.
  [[nodiscard]] bool clogged() const noexcept { return unsent_ > limits_.unsent_bytes; }

  // Gives up requests that are incomplete since `timeout`.
  void expire(std::chrono::steady_clock::time_point now, Duration timeout);

  // No new requests, please; those on the way are still served. Then, a moment later, none is.
  void announce_end();
  void refuse_more();

  [[nodiscard]] std::span<Exchange* const> open() const noexcept { return open_; }
  // Nothing will be received or sent any more.
  [[nodiscard]] bool over() const noexcept;

 private:
  struct Events;  // what nghttp2 tells the server

  // Most often the one that was looked up last.
  [[nodiscard]] Exchange* find(std::int32_t stream) noexcept {
    return last_ != nullptr && last_->stream_ == stream ? last_ : look_up(stream);
  }
  [[nodiscard]] Exchange* look_up(std::int32_t stream) noexcept;
  Exchange& open_exchange(std::int32_t stream);
  void close_exchange(Exchange& exchange) noexcept;
  void give_back(Exchange& exchange) noexcept;
  void mark_updated(Exchange& exchange) noexcept;
  void clear_updated() noexcept;
  // Whether an exchange may hold so much, with what the others hold.
  [[nodiscard]] bool has_room(std::size_t held) const noexcept {
    return held <= limits_.reserved_bytes || held_ + (held - limits_.reserved_bytes) <= limits_.held_bytes;
  }
  [[nodiscard]] std::size_t counted(const Exchange& exchange) const noexcept {
    return exchange.held() - std::min(exchange.held(), limits_.reserved_bytes);
  }
  void keep_field(Exchange& exchange, Field field, std::string_view value);
  void append_body(Exchange& exchange, std::string_view chunk);
  void count_reply(Exchange& exchange) noexcept;
  void submit_trailers(Exchange& exchange) noexcept;

  const Limits limits_;
  BlockPool pool_;  // outlives the session
  struct Delete {
    void operator()(nghttp2_session* session) const noexcept { nghttp2_session_del(session); }
  };
  std::unique_ptr<nghttp2_session, Delete> session_;

  FieldMemory memory_;
  base::ObjectPool<Exchange> exchanges_;
  std::vector<Exchange*> open_;
  std::vector<Exchange*> updated_;
  std::vector<Exchange*> left_;  // gone while updated
  Exchange* last_ = nullptr;     // that was looked up
  std::size_t held_ = 0;         // by all exchanges, each beyond what is reserved for it
  std::size_t unsent_ = 0;
  std::uint64_t given_up_ = 0;
};

}  // namespace weir::wire::http2
