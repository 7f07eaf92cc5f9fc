// A minimal HTTP client, plain or over TLS, on blocking sockets with timeouts.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "net/address.h"
#include "weir/result.h"

namespace weir::app {

// `127.0.0.1:8089`, `8089` (a port of 127.0.0.1), `weir.example:8089`, `[::1]:8089`, `unix:/run/weir/admin.sock`. The
// prefix `https://` means TLS; `http://` is allowed.
struct ServerAddress {
  net::Endpoint endpoint;
  bool tls = false;

  [[nodiscard]] static Result<ServerAddress> parse(std::string_view text);

  [[nodiscard]] std::string text() const { return (tls ? "https://" : "") + endpoint.text(); }
  [[nodiscard]] bool local() const;  // a loopback address or a unix socket
};

// How the server's certificate is verified, and the client certificate.
struct TlsTrust {
  std::string ca;           // file with the trusted CAs; empty: those of the system
  std::string pinned;       // if set, the only accepted certificate, whatever its name
  std::string certificate;  // client certificate; empty: none
  std::string key;          // the key of the client certificate
};

struct HttpResponse {
  unsigned status = 0;
  std::string body;
};

// `token` is sent as X-Weir-Token unless it is empty.
[[nodiscard]] Result<HttpResponse> http_request(const ServerAddress& server, const TlsTrust& trust,
                                                std::string_view method, std::string_view target,
                                                std::string_view token, std::string_view body = {});

struct HttpConnection;

// A response that is read in parts.
class HttpStream {
 public:
  [[nodiscard]] static Result<HttpStream> open(const ServerAddress& server, const TlsTrust& trust,
                                               std::string_view target, std::string_view token);
  HttpStream(HttpStream&&) noexcept;
  HttpStream& operator=(HttpStream&&) noexcept;
  HttpStream(const HttpStream&) = delete;
  HttpStream& operator=(const HttpStream&) = delete;
  ~HttpStream();

  [[nodiscard]] unsigned status() const noexcept { return status_; }
  // Waits for the next part of the body. Returns an empty text at its end.
  [[nodiscard]] Result<std::string> read();

 private:
  HttpStream(std::unique_ptr<HttpConnection> connection, unsigned status, std::string received);

  std::unique_ptr<HttpConnection> connection_;
  unsigned status_;
  std::string received_;  // body bytes that came with the head
};

}  // namespace weir::app
