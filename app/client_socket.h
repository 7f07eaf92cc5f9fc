// A connection to a server, plain or with TLS, that blocks with time-outs. What it is told is told in one request.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "weir/result.h"

namespace weir::app {

// `127.0.0.1:8089`, `weir.example:8089`, `[::1]:8089`, `unix:/run/weir/admin.sock`; `https://` before it means TLS, and
// `http://` may be there.
struct Place {
  std::string host;  // empty: a unix socket
  std::string port;
  std::string path;  // of a unix socket
  bool tls = false;

  [[nodiscard]] static Result<Place> parse(std::string_view text);

  [[nodiscard]] std::string text() const;  // as it was written
  [[nodiscard]] bool local() const;        // this machine, by address
};

// How a server with TLS is recognised, and what it is shown.
struct TlsTrust {
  std::string ca;           // the authorities in this file; empty: those of the system
  std::string pinned;       // or: exactly the certificate in this file, whatever its name
  std::string certificate;  // shown to a server that asks for one; empty: none
  std::string key;          // of it
};

class ClientSocket {
 public:
  static constexpr std::chrono::seconds patience{10};  // for each step

  [[nodiscard]] static Result<ClientSocket> connect(const Place& place, const TlsTrust& trust);

  ClientSocket(ClientSocket&&) noexcept;
  ClientSocket& operator=(ClientSocket&&) = delete;
  ~ClientSocket();

  [[nodiscard]] Result<void> send(std::string_view bytes);
  // All until the connection ends, be it cut off; an error if it is more than `most`.
  [[nodiscard]] Result<std::string> receive(std::size_t most);

 private:
  struct Tls;

  ClientSocket(int descriptor, std::string name);
  [[nodiscard]] Result<void> start_tls(const Place& place, const TlsTrust& trust);
  [[nodiscard]] Result<void> prepare_tls(const TlsTrust& trust);
  [[nodiscard]] Result<void> check_pinned(const std::string& file);
  [[nodiscard]] Result<std::size_t> receive_some(char* bytes, std::size_t size);

  int descriptor_;
  std::string name_;  // for errors
  std::unique_ptr<Tls> tls_;
};

}  // namespace weir::app
