// An HTTP/2 client without sockets that records the responses.
#pragma once

#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::wire::http2 {

struct Reply {
  std::map<std::string, std::string> fields;  // includes trailers
  std::string body;
  bool ended = false;   // closed without an error
  bool closed = false;  // in any way
  std::uint32_t code = 0;
};

using Fields = std::vector<std::pair<std::string, std::string>>;

class Client {
 public:
  Client() {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session* session = nullptr;
    nghttp2_session_client_new(&session, callbacks, this);
    nghttp2_session_callbacks_del(callbacks);
    session_.reset(session);
    nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, nullptr, 0);
  }

  // Returns the stream's number. The body of an `open` request does not end it.
  std::int32_t ask(const Fields& fields, std::string body, bool open = false) {
    std::vector<nghttp2_nv> pairs;
    for (const auto& [name, value] : fields) pairs.push_back(pair_of(name, value));
    auto& upload = uploads_.emplace_back(std::make_unique<Upload>(Upload{std::move(body), open}));
    nghttp2_data_provider provider{};
    provider.source.ptr = upload.get();
    provider.read_callback = read;
    const std::int32_t stream =
        nghttp2_submit_request(session_.get(), nullptr, pairs.data(), pairs.size(), &provider, nullptr);
    EXPECT_GT(stream, 0);
    by_stream_[stream] = upload.get();
    return stream;
  }

  // Sends more of an open request.
  void send(std::int32_t stream, std::string_view bytes, bool last = false) {
    by_stream_[stream]->bytes += bytes;
    if (last) by_stream_[stream]->open = false;
    nghttp2_session_resume_data(session_.get(), stream);
  }

  void reset(std::int32_t stream) {
    nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, stream, NGHTTP2_CANCEL);
  }
  void ping() { nghttp2_submit_ping(session_.get(), NGHTTP2_FLAG_NONE, nullptr); }

  // The pending output.
  std::string bytes() {
    std::string all;
    const std::uint8_t* part = nullptr;
    for (ssize_t size = 0; (size = nghttp2_session_mem_send(session_.get(), &part)) > 0;) {
      all.append(reinterpret_cast<const char*>(part), static_cast<std::size_t>(size));
    }
    return all;
  }

  void hear(std::string_view bytes) {
    const ssize_t done =
        nghttp2_session_mem_recv(session_.get(), reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    EXPECT_EQ(done, static_cast<ssize_t>(bytes.size()));
  }

  [[nodiscard]] Reply& reply(std::int32_t stream) { return replies_[stream]; }
  [[nodiscard]] const std::vector<std::uint32_t>& goaways() const noexcept { return goaways_; }
  [[nodiscard]] std::size_t pongs() const noexcept { return pongs_; }

 private:
  struct Upload {
    std::string bytes;
    bool open;
    std::size_t sent = 0;
  };

  static nghttp2_nv pair_of(const std::string& name, const std::string& value) {
    const auto bytes = [](const std::string& text) {
      return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(text.data()));
    };
    return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
  }
  static Client& self(void* user) { return *static_cast<Client*>(user); }

  static ssize_t read(nghttp2_session*, std::int32_t, std::uint8_t* room, std::size_t size, std::uint32_t* flags,
                      nghttp2_data_source* source, void*) {
    auto& upload = *static_cast<Upload*>(source->ptr);
    const std::size_t count = std::min(size, upload.bytes.size() - upload.sent);
    if (count == 0 && upload.open) return NGHTTP2_ERR_DEFERRED;
    std::memcpy(room, upload.bytes.data() + upload.sent, count);
    upload.sent += count;
    if (upload.sent == upload.bytes.size() && !upload.open) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(count);
  }
  static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size,
                       const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* user) {
    self(user).replies_[frame->hd.stream_id].fields[{reinterpret_cast<const char*>(name), name_size}] = {
        reinterpret_cast<const char*>(value), value_size};
    return 0;
  }
  static int on_data(nghttp2_session*, std::uint8_t, std::int32_t stream, const std::uint8_t* data, std::size_t size,
                     void* user) {
    self(user).replies_[stream].body.append(reinterpret_cast<const char*>(data), size);
    return 0;
  }
  static int on_close(nghttp2_session*, std::int32_t stream, std::uint32_t code, void* user) {
    Reply& reply = self(user).replies_[stream];
    reply.closed = true;
    reply.ended = code == NGHTTP2_NO_ERROR;
    reply.code = code;
    return 0;
  }
  static int on_frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type == NGHTTP2_GOAWAY) self(user).goaways_.push_back(frame->goaway.error_code);
    if (frame->hd.type == NGHTTP2_PING && (frame->hd.flags & NGHTTP2_FLAG_ACK) != 0) ++self(user).pongs_;
    return 0;
  }

  struct Delete {
    void operator()(nghttp2_session* session) const noexcept { nghttp2_session_del(session); }
  };
  std::unique_ptr<nghttp2_session, Delete> session_;
  std::vector<std::unique_ptr<Upload>> uploads_;
  std::map<std::int32_t, Upload*> by_stream_;
  std::map<std::int32_t, Reply> replies_;
  std::vector<std::uint32_t> goaways_;
  std::size_t pongs_ = 0;
};

inline Fields post(std::string path, const Fields& more = {}) {
  Fields fields{{":method", "POST"},
                {":scheme", "http"},
                {":authority", "weir"},
                {":path", std::move(path)},
                {"content-type", "application/grpc"},
                {"te", "trailers"}};
  fields.insert(fields.end(), more.begin(), more.end());
  return fields;
}

}  // namespace weir::wire::http2
