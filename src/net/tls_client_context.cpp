#include "net/tls_client_context.h"

#include <openssl/ssl.h>

#include <utility>

#include "net/tls_setup.h"

namespace weir::net {
namespace {

Result<void> trust(ssl_ctx_st& context, const std::string& ca) {
  SSL_CTX_set_verify(&context, SSL_VERIFY_PEER, nullptr);
  if (ca.empty()) {
    if (SSL_CTX_set_default_verify_paths(&context) == 1) return {};
    return failure("TLS", "the certificates that this machine trusts cannot be read: " + tls_reason() +
                              "; name a file of CA certificates");
  }
  if (SSL_CTX_load_verify_locations(&context, ca.c_str(), nullptr) == 1) return {};
  return failure(ca, "the CA cannot be used: " + tls_reason() + "; give a PEM file of CA certificates");
}

}  // namespace

TlsClientContext::TlsClientContext(std::shared_ptr<ssl_ctx_st> context) noexcept : context_(std::move(context)) {}

Result<std::shared_ptr<const TlsClientContext>> TlsClientContext::load(const TlsClientFiles& files) {
  auto context = make_tls_context(TLS_client_method());
  if (!context) return tl::unexpected(std::move(context.error()));
  if (auto trusted = trust(**context, files.ca); !trusted) return tl::unexpected(std::move(trusted.error()));
  if (files.certificate_chain.empty() != files.key.empty()) {
    return failure(files.key.empty() ? files.certificate_chain : files.key,
                   "a client's certificate and its key are given together, or neither");
  }
  if (!files.key.empty()) {
    auto used = use_certificate(**context, files.certificate_chain, files.key);
    if (!used) return tl::unexpected(std::move(used.error()));
  }
  return std::shared_ptr<const TlsClientContext>(new TlsClientContext(std::move(*context)));
}

}  // namespace weir::net
