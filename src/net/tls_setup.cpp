#include "net/tls_setup.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <array>

namespace weir::net {
namespace {

// In place of OpenSSL's, which asks at the terminal.
int no_passphrase(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*data*/) {
  return 0;
}

}  // namespace

std::string tls_reason() {
  const unsigned long code = ERR_peek_error();
  std::array<char, 256> text{};
  if (ERR_SYSTEM_ERROR(code)) {
    ERR_error_string_n(code, text.data(), text.size());
  } else if (const char* const known = ERR_reason_error_string(code); known != nullptr) {
    return known;
  }
  const std::string whole = text.data();
  const std::size_t last = whole.rfind(':');
  return last == std::string::npos ? "unknown reason" : whole.substr(last + 1);
}

Result<std::shared_ptr<ssl_ctx_st>> make_tls_context(const ssl_method_st* method) {
  ERR_clear_error();
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(method), SSL_CTX_free);
  if (!context) return failure("TLS", "cannot be set up: " + tls_reason());
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_default_passwd_cb(context.get(), no_passphrase);
  return context;
}

Result<void> use_certificate(ssl_ctx_st& context, const std::string& chain, const std::string& key) {
  if (SSL_CTX_use_certificate_chain_file(&context, chain.c_str()) != 1) {
    return failure(chain, "the certificate cannot be used: " + tls_reason() +
                              "; give a PEM file, the certificate of the key first");
  }
  if (SSL_CTX_use_PrivateKey_file(&context, key.c_str(), SSL_FILETYPE_PEM) != 1) {
    const bool mismatch = ERR_GET_REASON(ERR_peek_error()) == X509_R_KEY_VALUES_MISMATCH;
    return failure(
        key, mismatch ? "the key is not that of the certificate in " + chain + "; give the two that were made together"
                      : "the key cannot be used: " + tls_reason() +
                            "; give a PEM file without a passphrase that this user may read");
  }
  if (SSL_CTX_check_private_key(&context) != 1) {
    return failure(key,
                   "the key is not that of the certificate in " + chain + "; give the two that were made together");
  }
  return {};
}

}  // namespace weir::net
