#include "net/tls_context.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <utility>

namespace weir::net {
namespace {

// Replaces OpenSSL's callback, which prompts on the terminal.
int no_passphrase(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*data*/) {
  return 0;
}

Result<std::shared_ptr<SSL_CTX>> make_context(const SSL_METHOD* method) {
  ERR_clear_error();
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(method), SSL_CTX_free);
  if (!context) return failure("TLS", "cannot create a context: " + tls_reason());
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_default_passwd_cb(context.get(), no_passphrase);
  return context;
}

Result<void> use_certificate(SSL_CTX& context, const std::string& chain, const std::string& key) {
  if (SSL_CTX_use_certificate_chain_file(&context, chain.c_str()) != 1) {
    return failure(chain,
                   "cannot load certificate: " + tls_reason() + "; use a PEM file with the leaf certificate first");
  }
  const bool used = SSL_CTX_use_PrivateKey_file(&context, key.c_str(), SSL_FILETYPE_PEM) == 1;
  if (!used && ERR_GET_REASON(ERR_peek_error()) != X509_R_KEY_VALUES_MISMATCH) {
    return failure(key, "cannot load key: " + tls_reason() + "; use a readable PEM file without a passphrase");
  }
  if (!used || SSL_CTX_check_private_key(&context) != 1) {
    return failure(key, "key does not match the certificate in " + chain + "; use the key that belongs to it");
  }
  return {};
}

int select_application(SSL* /*ssl*/, const unsigned char** out, unsigned char* out_size, const unsigned char* asked,
                       unsigned int asked_size, void* data) {
  const auto& offered = *static_cast<const std::string*>(data);
  unsigned char* chosen = nullptr;
  const int found = SSL_select_next_proto(&chosen, out_size, reinterpret_cast<const unsigned char*>(offered.data()),
                                          static_cast<unsigned int>(offered.size()), asked, asked_size);
  if (found != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_ALERT_FATAL;
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

Result<void> use_client_ca(SSL_CTX* context, const std::string& file) {
  STACK_OF(X509_NAME)* const names = SSL_load_client_CA_file(file.c_str());
  if (names == nullptr || SSL_CTX_load_verify_locations(context, file.c_str(), nullptr) != 1) {
    sk_X509_NAME_pop_free(names, X509_NAME_free);
    return failure(file, "cannot load client CA: " + tls_reason() + "; use a PEM file of CA certificates");
  }
  SSL_CTX_set_client_CA_list(context, names);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return {};
}

Result<std::shared_ptr<SSL_CTX>> build_server_context(const TlsFiles& files, const std::string& applications) {
  auto context = make_context(TLS_server_method());
  if (!context) return context;
  SSL_CTX* const raw = context->get();
  SSL_CTX_set_options(raw, SSL_OP_CIPHER_SERVER_PREFERENCE);
  // Resumption with client certificates requires a session id context. Tickets resume sessions, so no sessions are
  // cached.
  constexpr std::array<unsigned char, 4> name{'w', 'e', 'i', 'r'};
  SSL_CTX_set_session_id_context(raw, name.data(), name.size());
  SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);

  if (auto used = use_certificate(*raw, files.certificate_chain, files.key); !used) {
    return tl::unexpected(std::move(used.error()));
  }
  if (!files.client_ca.empty()) {
    if (auto used = use_client_ca(raw, files.client_ca); !used) return tl::unexpected(std::move(used.error()));
  }
  if (!applications.empty()) {
    // OpenSSL only passes the pointer to the callback. The string belongs to TlsContext, which outlives every
    // handshake.
    SSL_CTX_set_alpn_select_cb(raw, select_application, const_cast<std::string*>(&applications));
  }
  return context;
}

Result<void> trust(SSL_CTX& context, const std::string& ca) {
  SSL_CTX_set_verify(&context, SSL_VERIFY_PEER, nullptr);
  if (ca.empty()) {
    if (trust_system_authorities(context)) return {};
    return failure("TLS", "cannot load this machine's trusted CA certificates: " + tls_reason() + "; set a CA file");
  }
  if (SSL_CTX_load_verify_locations(&context, ca.c_str(), nullptr) == 1) return {};
  return failure(ca, "cannot load CA: " + tls_reason() + "; use a PEM file of CA certificates");
}

// True if the environment names the location, even if nothing exists there, or if the default is readable.
bool is_configured(const char* variable, const char* path) {
  const bool is_set = std::getenv(variable) != nullptr;  // NOLINT(concurrency-mt-unsafe): nothing here sets it
  return is_set || access(path, R_OK) == 0;
}

}  // namespace

bool trust_system_authorities(SSL_CTX& context) {
  if (SSL_CTX_set_default_verify_paths(&context) != 1) return false;
  if (is_configured(X509_get_default_cert_file_env(), X509_get_default_cert_file()) ||
      is_configured(X509_get_default_cert_dir_env(), X509_get_default_cert_dir())) {
    return true;
  }
  constexpr std::array files{"/etc/ssl/certs/ca-certificates.crt",  // Debian, Ubuntu, Arch, Alpine
                             "/etc/pki/tls/certs/ca-bundle.crt",    // Fedora, Red Hat
                             "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/ca-bundle.pem",  // openSUSE
                             "/etc/ssl/cert.pem"};
  for (const char* const file : files) {
    if (access(file, R_OK) == 0) return SSL_CTX_load_verify_file(&context, file) == 1;
  }
  return true;  // without authorities no server is trusted, and the handshake reports it
}

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

Result<std::shared_ptr<TlsContext>> TlsContext::load(TlsFiles files, const std::vector<std::string>& applications) {
  std::string wire;
  for (const std::string& application : applications) {
    if (application.empty() || application.size() > 255) {
      return failure("ALPN", "protocol name must be 1 to 255 bytes long");
    }
    wire += static_cast<char>(application.size());
    wire += application;
  }
  std::shared_ptr<TlsContext> context(new TlsContext(std::move(files), std::move(wire)));
  if (auto loaded = context->reload(); !loaded) return tl::unexpected(std::move(loaded.error()));
  return context;
}

Result<std::shared_ptr<ssl_ctx_st>> TlsContext::prepare() const {
  return build_server_context(files_, applications_);
}

void TlsContext::take(std::shared_ptr<ssl_ctx_st> prepared) {
  const std::lock_guard lock(mutex_);
  current_ = std::move(prepared);
}

Result<void> TlsContext::reload() {
  auto fresh = prepare();
  if (!fresh) return tl::unexpected(std::move(fresh.error()));
  take(std::move(*fresh));
  return {};
}

std::shared_ptr<ssl_ctx_st> TlsContext::current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

Result<std::shared_ptr<const TlsClientContext>> TlsClientContext::load(const TlsClientFiles& files) {
  auto context = make_context(TLS_client_method());
  if (!context) return tl::unexpected(std::move(context.error()));
  if (auto trusted = trust(**context, files.ca); !trusted) return tl::unexpected(std::move(trusted.error()));
  if (files.certificate_chain.empty() != files.key.empty()) {
    return failure(files.key.empty() ? files.certificate_chain : files.key,
                   "client certificate and key must be set together");
  }
  if (!files.key.empty()) {
    auto used = use_certificate(**context, files.certificate_chain, files.key);
    if (!used) return tl::unexpected(std::move(used.error()));
  }
  return std::shared_ptr<const TlsClientContext>(new TlsClientContext(std::move(*context)));
}

}  // namespace weir::net
