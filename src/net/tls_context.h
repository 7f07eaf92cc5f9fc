// The TLS contexts of servers and clients: TLS 1.2 and later. Thread-safe.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "weir/result.h"

struct ssl_ctx_st;

namespace weir::net {

// OpenSSL's first reason for the last failure on this thread, which is the most specific one.
[[nodiscard]] std::string tls_reason();

// Trusts this machine's certificate authorities: those in OpenSSL's default locations, or else those in the usual
// location of another distribution. If it returns false, tls_reason() is set.
[[nodiscard]] bool trust_system_authorities(ssl_ctx_st& context);

struct TlsFiles {
  std::string certificate_chain;  // PEM, our own certificate first
  std::string key;                // PEM, without a passphrase
  std::string client_ca;          // PEM; if set, clients without a certificate are rejected
};

// The certificates of a listener. They can be reloaded without a restart; later connections use the new ones.
class TlsContext {
 public:
  // `applications` are the ALPN protocols, preferred first (`h2`, `http/1.1`). A client that offers only others is
  // rejected; a client without ALPN is accepted.
  [[nodiscard]] static Result<std::shared_ptr<TlsContext>> load(TlsFiles files,
                                                                const std::vector<std::string>& applications = {});

  // Reads the files again, for a later take(), so that a caller can load several contexts before it changes any.
  [[nodiscard]] Result<std::shared_ptr<ssl_ctx_st>> prepare() const;
  void take(std::shared_ptr<ssl_ctx_st> prepared);

  // Does prepare() and take(). An invalid file changes nothing.
  [[nodiscard]] Result<void> reload();

  [[nodiscard]] std::shared_ptr<ssl_ctx_st> current() const;

 private:
  TlsContext(TlsFiles files, std::string applications)
      : files_(std::move(files)), applications_(std::move(applications)) {}

  const TlsFiles files_;
  const std::string applications_;  // in wire format: each name is preceded by its length
  mutable std::mutex mutex_;
  std::shared_ptr<ssl_ctx_st> current_;
};

struct TlsClientFiles {
  std::string ca;                 // PEM; empty: the authorities that this machine trusts
  std::string certificate_chain;  // PEM, the client's own certificate first; empty: no client certificate
  std::string key;                // PEM, without a passphrase
};

// The authorities that a client trusts and its own certificate. The server's certificate and name are always verified.
// Immutable: load another one for later connections.
class TlsClientContext {
 public:
  [[nodiscard]] static Result<std::shared_ptr<const TlsClientContext>> load(const TlsClientFiles& files);

  [[nodiscard]] ssl_ctx_st& context() const noexcept { return *context_; }

 private:
  explicit TlsClientContext(std::shared_ptr<ssl_ctx_st> context) noexcept : context_(std::move(context)) {}

  std::shared_ptr<ssl_ctx_st> context_;
};

}  // namespace weir::net
