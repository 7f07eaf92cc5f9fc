// What nghttp2 tells a Server. Nothing is thrown through nghttp2: what fails, fails the connection.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>

namespace weir::wire::http2 {

class Exchange;
class Server;

struct ServerEvents {
  [[nodiscard]] static const nghttp2_session_callbacks* table();

  // When there is room for a part of an answer.
  static ssize_t read_reply(nghttp2_session* session, std::int32_t stream, std::uint8_t* room, std::size_t size,
                            std::uint32_t* flags, nghttp2_data_source* source, void* user) noexcept;

 private:
  static int on_begin_headers(nghttp2_session* session, const nghttp2_frame* frame, void* user) noexcept;
  static int on_header(nghttp2_session* session, const nghttp2_frame* frame, const std::uint8_t* name,
                       std::size_t name_size, const std::uint8_t* value, std::size_t value_size, std::uint8_t flags,
                       void* user) noexcept;
  static int on_data(nghttp2_session* session, std::uint8_t flags, std::int32_t stream, const std::uint8_t* data,
                     std::size_t size, void* user) noexcept;
  static int on_frame(nghttp2_session* session, const nghttp2_frame* frame, void* user) noexcept;
  static int on_sent(nghttp2_session* session, const nghttp2_frame* frame, void* user) noexcept;
  static int on_close(nghttp2_session* session, std::int32_t stream, std::uint32_t code, void* user) noexcept;

  [[nodiscard]] static bool goes_on(Exchange& exchange, bool fields, bool ends) noexcept;
  [[nodiscard]] static int refuse(Server& server, Exchange& exchange, int code) noexcept;
};

}  // namespace weir::wire::http2
