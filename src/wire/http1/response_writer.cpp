#include "wire/http1/response_writer.h"

#include <algorithm>
#include <array>

#include "text/append_written.h"
#include "text/decimal.h"
#include "wire/http1/lines.h"

namespace weir::wire::http1 {
namespace {

struct Reason {
  unsigned status;
  std::string_view phrase;
};

constexpr std::array reasons{
    Reason{100, "Continue"},
    Reason{200, "OK"},
    Reason{204, "No Content"},
    Reason{304, "Not Modified"},
    Reason{400, "Bad Request"},
    Reason{401, "Unauthorized"},
    Reason{403, "Forbidden"},
    Reason{404, "Not Found"},
    Reason{405, "Method Not Allowed"},
    Reason{408, "Request Timeout"},
    Reason{409, "Conflict"},
    Reason{411, "Length Required"},
    Reason{413, "Content Too Large"},
    Reason{414, "URI Too Long"},
    Reason{415, "Unsupported Media Type"},
    Reason{417, "Expectation Failed"},
    Reason{421, "Misdirected Request"},
    Reason{422, "Unprocessable Content"},
    Reason{429, "Too Many Requests"},
    Reason{431, "Request Header Fields Too Large"},
    Reason{500, "Internal Server Error"},
    Reason{501, "Not Implemented"},
    Reason{502, "Bad Gateway"},
    Reason{503, "Service Unavailable"},
    Reason{504, "Gateway Timeout"},
    Reason{505, "HTTP Version Not Supported"},
};

constexpr bool has_no_content(unsigned status) noexcept {
  return status < 200 || status == 204 || status == 304;
}

}  // namespace

std::string_view reason_phrase(unsigned status) noexcept {
  const auto found = std::ranges::lower_bound(reasons, status, {}, &Reason::status);
  return found != reasons.end() && found->status == status ? found->phrase : std::string_view{};
}

ResponseWriter::ResponseWriter(std::string& out, const ResponseHead& head)
    : out_(out), status_(std::clamp(head.status, 100U, 999U)) {
  if (status_ == 200) {
    out_ += "HTTP/1.1 200 OK\r\n";
  } else {
    out_ += "HTTP/1.1 ";
    text::append_number(out_, status_);
    out_ += ' ';  // required even without a phrase
    out_ += reason_phrase(status_);
    out_ += "\r\n";
  }
  if (!head.date.empty()) line("Date", head.date);
  if (head.connection == Connection::close) out_ += "Connection: close\r\n";
  if (head.connection == Connection::keep_alive) out_ += "Connection: keep-alive\r\n";
}

void ResponseWriter::header(std::string_view name, std::string_view value) {
  if (!name.empty() && token_bytes.has_all(name)) line(name, value);
}

void ResponseWriter::content_type(std::string_view type) {
  line("Content-Type", type);
  out_ += "X-Content-Type-Options: nosniff\r\n";
}

// The search for control characters includes the name, which has none, so that it usually spans sixteen bytes.
void ResponseWriter::line(std::string_view name, std::string_view value) {
  const std::size_t end = name.size() + 2 + value.size();
  text::append_written(out_, end + 2, [&](char* to) {
    name.copy(to, name.size());
    to[name.size()] = ':';
    to[name.size() + 1] = ' ';
    value.copy(to + name.size() + 2, value.size());
    for (std::size_t at = 0; (at = find_control(to, at, end)) < end; ++at) to[at] = ' ';
    to[end] = '\r';
    to[end + 1] = '\n';
  });
}

void ResponseWriter::finish(std::string_view body, Body whether) {
  if (has_no_content(status_)) {
    out_ += "\r\n";
    return;
  }
  out_ += "Content-Length: ";
  text::append_number(out_, body.size());
  out_ += "\r\n\r\n";
  if (whether == Body::sent) out_ += body;
}

void append_continue(std::string& out) {
  out += "HTTP/1.1 100 Continue\r\n\r\n";
}

}  // namespace weir::wire::http1
