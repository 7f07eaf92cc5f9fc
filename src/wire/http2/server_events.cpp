#include "wire/http2/server_events.h"

#include <algorithm>
#include <memory>
#include <new>
#include <string_view>

#include "wire/http2/server.h"

namespace weir::wire::http2 {
namespace {

std::string_view text_of(const std::uint8_t* bytes, std::size_t size) noexcept {
  return {reinterpret_cast<const char*>(bytes), size};
}

Server& server_of(void* user) noexcept {
  return *static_cast<Server*>(user);
}

template <class Work>
int guarded(const Work& work) noexcept {
  try {
    work();
    return 0;
  } catch (...) {
    return NGHTTP2_ERR_CALLBACK_FAILURE;
  }
}

bool is_request(const nghttp2_frame* frame) noexcept {
  return frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST;
}

}  // namespace

const nghttp2_session_callbacks* ServerEvents::table() {
  struct Delete {
    void operator()(nghttp2_session_callbacks* callbacks) const noexcept { nghttp2_session_callbacks_del(callbacks); }
  };
  static const auto made = [] {
    nghttp2_session_callbacks* callbacks = nullptr;
    if (nghttp2_session_callbacks_new(&callbacks) != 0) throw std::bad_alloc();
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_sent);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    return std::unique_ptr<nghttp2_session_callbacks, Delete>(callbacks);
  }();
  return made.get();
}

int ServerEvents::on_begin_headers(nghttp2_session* session, const nghttp2_frame* frame, void* user) noexcept {
  server_of(user).memory_.begin();
  if (!is_request(frame)) return 0;
  return guarded([&] {
    Exchange& exchange = server_of(user).open_exchange(frame->hd.stream_id);
    nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, &exchange);
  });
}

int ServerEvents::on_header(nghttp2_session* /*session*/, const nghttp2_frame* frame, const std::uint8_t* name,
                            std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                            std::uint8_t /*flags*/, void* user) noexcept {
  Server& server = server_of(user);
  Exchange* const exchange = server.find(frame->hd.stream_id);
  if (exchange == nullptr) return 0;
  const FieldFinding found = server.memory_.look_at(text_of(name, name_size), text_of(value, value_size));
  const bool in_trailers = exchange->headed_;
  if (!exchange->shape_.add(found) || (found.malformed_value && in_trailers)) {
    return refuse(server, *exchange, NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE);
  }
  if (in_trailers) return 0;  // which are not kept
  if (found.malformed_value) exchange->set_fault(Fault::malformed_field);
  exchange->head_bytes_ += name_size + value_size;
  if (exchange->head_bytes_ > server.limits_.head_bytes) exchange->set_fault(Fault::head_too_large);
  if (!found.field || exchange->fault_ != Fault::none) return 0;
  return guarded([&] { server.keep_field(*exchange, *found.field, text_of(value, value_size)); });
}

int ServerEvents::on_data(nghttp2_session* /*session*/, std::uint8_t /*flags*/, std::int32_t stream,
                          const std::uint8_t* data, std::size_t size, void* user) noexcept {
  Exchange* const exchange = server_of(user).find(stream);
  if (exchange == nullptr) return 0;
  if (!exchange->shape_.add_body(size)) return refuse(server_of(user), *exchange, 0);
  return guarded([&] { server_of(user).append_body(*exchange, text_of(data, size)); });
}

int ServerEvents::on_frame(nghttp2_session* /*session*/, const nghttp2_frame* frame, void* user) noexcept {
  if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
  Exchange* const exchange = server_of(user).find(frame->hd.stream_id);
  if (exchange == nullptr) return 0;
  const bool ends = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  if (!goes_on(*exchange, frame->hd.type == NGHTTP2_HEADERS, ends)) return refuse(server_of(user), *exchange, 0);
  exchange->headed_ = true;
  exchange->complete_ = exchange->complete_ || ends;
  server_of(user).stir(*exchange);
  return 0;
}

// False if this frame makes the request a malformed one.
bool ServerEvents::goes_on(Exchange& exchange, bool fields, bool ends) noexcept {
  if (fields && !exchange.headed_ && !exchange.shape_.end_head()) return false;
  if (fields && exchange.headed_ && !ends) return false;  // trailers are the last of a request
  return !ends || exchange.shape_.end_body();
}

// Of a malformed request nothing is served. Gives `code`, or that there is no memory to say so.
int ServerEvents::refuse(Server& server, Exchange& exchange, int code) noexcept {
  const int failed = guarded([&] { server.reset(exchange, NGHTTP2_PROTOCOL_ERROR); });
  return failed != 0 ? failed : code;
}

// An answer that is whole before its request: the rest is not wanted.
int ServerEvents::on_sent(nghttp2_session* session, const nghttp2_frame* frame, void* user) noexcept {
  if (frame->hd.type != NGHTTP2_HEADERS || (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
  const Exchange* const exchange = server_of(user).find(frame->hd.stream_id);
  if (exchange == nullptr || exchange->complete_) return 0;
  return nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_NO_ERROR);
}

int ServerEvents::on_close(nghttp2_session* /*session*/, std::int32_t stream, std::uint32_t /*code*/,
                           void* user) noexcept {
  Exchange* const exchange = server_of(user).find(stream);
  if (exchange == nullptr) return 0;
  server_of(user).close_exchange(*exchange);
  return 0;
}

ssize_t ServerEvents::read_reply(nghttp2_session* /*session*/, std::int32_t /*stream*/, std::uint8_t* room,
                                 std::size_t size, std::uint32_t* flags, nghttp2_data_source* source,
                                 void* user) noexcept {
  Server& server = server_of(user);
  auto& exchange = *static_cast<Exchange*>(source->ptr);
  server.last_ = &exchange;
  server.count_reply(exchange);
  const std::size_t count = std::min(size, exchange.reply_.size() - exchange.sent_);
  exchange.waiting_ = count == 0 && !exchange.ended_;
  if (exchange.waiting_) return NGHTTP2_ERR_DEFERRED;
  exchange.reply_.copy(reinterpret_cast<char*>(room), count, exchange.sent_);
  exchange.sent_ += count;
  server.unsent_ -= count;
  if (exchange.sent_ < exchange.reply_.size()) return static_cast<ssize_t>(count);
  exchange.reply_.clear();
  exchange.counted_ = exchange.sent_ = 0;
  if (!exchange.ended_) return static_cast<ssize_t>(count);
  *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
  server.submit_trailers(exchange);
  return static_cast<ssize_t>(count);
}

}  // namespace weir::wire::http2
