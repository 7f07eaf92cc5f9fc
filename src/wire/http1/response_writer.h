// Appends a response to the output of a connection:
//
//   ResponseWriter response(out, {.status = 200, .date = date});
//   response.content_type("application/json");
//   response.finish(body);
//
// Values cannot split the response: a control character becomes a space, and a header whose name is not a token is
// omitted. The writer adds Content-Length, Connection and Date itself. Allocates only to grow `out`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir::wire::http1 {

// The Connection header. `implied` omits it: HTTP/1.1 stays open, HTTP/1.0 closes.
enum class Connection : std::uint8_t { implied, keep_alive, close };

// The response to HEAD has the headers of the response to GET, and no body.
enum class Body : std::uint8_t { sent, withheld };

struct ResponseHead {
  unsigned status = 200;  // 100 to 999
  Connection connection = Connection::implied;
  std::string_view date{};  // an HTTP-date, updated by the caller every second; empty omits it
};

class ResponseWriter {
 public:
  ResponseWriter(std::string& out, const ResponseHead& head);
  ResponseWriter(const ResponseWriter&) = delete;
  ResponseWriter& operator=(const ResponseWriter&) = delete;

  void header(std::string_view name, std::string_view value);

  // Writes Content-Type and `X-Content-Type-Options: nosniff`.
  void content_type(std::string_view type);

  // Ends the head of a response whose body is streamed until the connection closes.
  void finish_head() { out_ += "\r\n"; }

  // Ends the head and writes the body. 1xx, 204 and 304 have neither a body nor a Content-Length.
  void finish(std::string_view body = {}, Body whether = Body::sent);

 private:
  void line(std::string_view name, std::string_view value);

  std::string& out_;
  unsigned status_;
};

// Appends `HTTP/1.1 100 Continue`.
void append_continue(std::string& out);

// For example `Too Many Requests`; empty for an unknown status.
[[nodiscard]] std::string_view reason_phrase(unsigned status) noexcept;

}  // namespace weir::wire::http1
