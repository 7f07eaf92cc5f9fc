// Whom a client trusts over TLS, and the certificate that it shows: TLS 1.2 and later, the server's certificate and
// name always verified. Never changes: load another one for connections that begin afterwards. From any thread.
#pragma once

#include <memory>
#include <string>

#include "weir/result.h"

struct ssl_ctx_st;

namespace weir::net {

struct TlsClientFiles {
  std::string ca;                 // PEM; empty: whom this machine trusts
  std::string certificate_chain;  // PEM, our own certificate first; empty: none is shown
  std::string key;                // PEM, without a passphrase
};

class TlsClientContext {
 public:
  [[nodiscard]] static Result<std::shared_ptr<const TlsClientContext>> load(const TlsClientFiles& files);

  [[nodiscard]] ssl_ctx_st& context() const noexcept { return *context_; }

 private:
  explicit TlsClientContext(std::shared_ptr<ssl_ctx_st> context) noexcept;

  std::shared_ptr<ssl_ctx_st> context_;
};

}  // namespace weir::net
