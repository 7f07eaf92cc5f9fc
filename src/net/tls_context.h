// The certificates of servers and clients: TLS 1.2 and later. From any thread.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "weir/result.h"

struct ssl_ctx_st;

namespace weir::net {

// The most telling of OpenSSL's reasons for the last failure on this thread, which is the first.
[[nodiscard]] std::string tls_reason();

// Trusts the authorities of this machine: those where OpenSSL was built to look, else, on another distribution than the
// program was built on, those where that one has them. False: OpenSSL's reason is there to read.
[[nodiscard]] bool trust_system_authorities(ssl_ctx_st& context);

struct TlsFiles {
  std::string certificate_chain;  // PEM, our own certificate first
  std::string key;                // PEM, without a passphrase
  std::string client_ca;          // PEM; empty: no client certificates. Else a client without one is refused
};

// The certificates of a listener, with client certificates where a CA for them is given. They can be read again without
// a restart: connections that begin afterwards use the new ones.
class TlsContext {
 public:
  // `applications`: what ALPN offers, preferred first (`h2`, `http/1.1`). A client that asks for none of them is
  // refused; one that does not ask is not.
  [[nodiscard]] static Result<std::shared_ptr<TlsContext>> load(TlsFiles files,
                                                                const std::vector<std::string>& applications = {});

  // Reads the files again, for take(): so that several can be read before the first one changes.
  [[nodiscard]] Result<std::shared_ptr<ssl_ctx_st>> prepare() const;
  void take(std::shared_ptr<ssl_ctx_st> prepared);

  // Both. If any of the files is bad, nothing changes.
  [[nodiscard]] Result<void> reload();

  [[nodiscard]] std::shared_ptr<ssl_ctx_st> current() const;

 private:
  TlsContext(TlsFiles files, std::string applications)
      : files_(std::move(files)), applications_(std::move(applications)) {}

  const TlsFiles files_;
  const std::string applications_;  // as on the wire: each with its length before it
  mutable std::mutex mutex_;
  std::shared_ptr<ssl_ctx_st> current_;
};

struct TlsClientFiles {
  std::string ca;                 // PEM; empty: those that this machine trusts
  std::string certificate_chain;  // PEM, our own certificate first; empty: none is shown
  std::string key;                // PEM, without a passphrase
};

// The servers that a client trusts, and the certificate that it shows. The server's certificate and name are always
// verified. Never changes: load another one for connections that begin afterwards.
class TlsClientContext {
 public:
  [[nodiscard]] static Result<std::shared_ptr<const TlsClientContext>> load(const TlsClientFiles& files);

  [[nodiscard]] ssl_ctx_st& context() const noexcept { return *context_; }

 private:
  explicit TlsClientContext(std::shared_ptr<ssl_ctx_st> context) noexcept : context_(std::move(context)) {}

  std::shared_ptr<ssl_ctx_st> context_;
};

}  // namespace weir::net
