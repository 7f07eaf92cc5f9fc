// Appends one response to the bytes that a connection is about to send:
//
//   ResponseWriter response(out, {.status = 200, .date = date});
//   response.content_type("application/json");
//   response.finish(body);
//
// Whatever is given as a value, the response stays one response: a control character in it becomes a space, and a
// header whose name is not a token is left out. Content-Length, Connection and Date are written here, not as headers.
// Allocates only where `out` grows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir::wire::http1 {

// What the response says of the connection. `implied`: it stays open in HTTP/1.1 and closes in HTTP/1.0.
enum class Connection : std::uint8_t { implied, keep_alive, close };

// The answer to HEAD has the headers of the answer to GET, and no body.
enum class Body : std::uint8_t { sent, withheld };

struct ResponseHead {
  unsigned status = 200;  // 100 to 999
  Connection connection = Connection::implied;
  std::string_view date{};  // an HTTP-date, which the caller renews every second; empty: none
};

class ResponseWriter {
 public:
  ResponseWriter(std::string& out, const ResponseHead& head);
  ResponseWriter(const ResponseWriter&) = delete;
  ResponseWriter& operator=(const ResponseWriter&) = delete;

  void header(std::string_view name, std::string_view value);

  // Content-Type, and X-Content-Type-Options: nosniff, so that no browser takes the body for something else.
  void content_type(std::string_view type);

  // Ends the head of a response whose body follows in pieces, until the connection closes.
  void finish_head() { out_ += "\r\n"; }

  // Ends the head and writes the body. 1xx, 204 and 304 have neither a body nor a Content-Length.
  void finish(std::string_view body = {}, Body whether = Body::sent);

 private:
  void line(std::string_view name, std::string_view value);

  std::string& out_;
  unsigned status_;
};

// `HTTP/1.1 100 Continue`, for a client that waits to send its body.
void append_continue(std::string& out);

// `Too Many Requests`; empty for a status that has no name.
[[nodiscard]] std::string_view reason_phrase(unsigned status) noexcept;

}  // namespace weir::wire::http1
