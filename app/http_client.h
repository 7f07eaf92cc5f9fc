// One HTTP request to a server, plain or over TLS, on a blocking socket with timeouts.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "net/address.h"
#include "weir/result.h"

namespace weir::app {

// `127.0.0.1:8089`, `weir.example:8089`, `[::1]:8089`, `unix:/run/weir/admin.sock`; `https://` before it means TLS, and
// `http://` may be there.
struct Place {
  net::Endpoint endpoint;
  bool tls = false;

  [[nodiscard]] static Result<Place> parse(std::string_view text);

  [[nodiscard]] std::string text() const { return (tls ? "https://" : "") + endpoint.text(); }
  [[nodiscard]] bool local() const;  // this machine, by address
};

// How a server with TLS is recognised, and what it is shown.
struct TlsTrust {
  std::string ca;           // the authorities in this file; empty: those of the system
  std::string pinned;       // or: exactly the certificate in this file, whatever its name
  std::string certificate;  // shown to a server that asks for one; empty: none
  std::string key;          // of it
};

struct HttpResponse {
  unsigned status = 0;
  std::string body;
};

// `token` is sent as X-Weir-Token unless it is empty. There is no request body.
[[nodiscard]] Result<HttpResponse> http_request(const Place& place, const TlsTrust& trust, std::string_view method,
                                                std::string_view target, std::string_view token);

struct HttpConnection;

// An answer that is read as it comes.
class HttpStream {
 public:
  [[nodiscard]] static Result<HttpStream> open(const Place& place, const TlsTrust& trust, std::string_view target,
                                               std::string_view token);
  HttpStream(HttpStream&&) noexcept;
  HttpStream& operator=(HttpStream&&) noexcept;
  HttpStream(const HttpStream&) = delete;
  HttpStream& operator=(const HttpStream&) = delete;
  ~HttpStream();

  [[nodiscard]] unsigned status() const noexcept { return status_; }
  // What comes next of the body, as soon as there is anything; empty at its end.
  [[nodiscard]] Result<std::string> read();

 private:
  HttpStream(std::unique_ptr<HttpConnection> connection, unsigned status, std::string begun);

  std::unique_ptr<HttpConnection> connection_;
  unsigned status_;
  std::string begun_;  // came together with the head
};

}  // namespace weir::app
