#include "net/tls_context.h"

#include <openssl/ssl.h>

#include <array>
#include <utility>

#include "net/tls_setup.h"

namespace weir::net {
namespace {

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
    return failure(file, "the client CA cannot be used: " + tls_reason() + "; give a PEM file of CA certificates");
  }
  SSL_CTX_set_client_CA_list(context, names);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return {};
}

Result<std::shared_ptr<SSL_CTX>> build(const TlsFiles& files, const std::string& applications) {
  auto context = make_tls_context(TLS_server_method());
  if (!context) return context;
  SSL_CTX* const raw = context->get();
  SSL_CTX_set_options(raw, SSL_OP_CIPHER_SERVER_PREFERENCE);
  // Resumption with client certificates needs a name; tickets do it, so that no sessions are kept here.
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
    // OpenSSL only hands it back; it lives as long as the TlsContext, which outlives every handshake.
    SSL_CTX_set_alpn_select_cb(raw, select_application, const_cast<std::string*>(&applications));
  }
  return context;
}

}  // namespace

TlsContext::TlsContext(TlsFiles files, std::string applications)
    : files_(std::move(files)), applications_(std::move(applications)) {}

Result<std::shared_ptr<TlsContext>> TlsContext::load(TlsFiles files, const std::vector<std::string>& applications) {
  std::string wire;
  for (const std::string& application : applications) {
    if (application.empty() || application.size() > 255) {
      return failure("ALPN", "a protocol's name has 1 to 255 bytes");
    }
    wire += static_cast<char>(application.size());
    wire += application;
  }
  std::shared_ptr<TlsContext> context(new TlsContext(std::move(files), std::move(wire)));
  if (auto loaded = context->reload(); !loaded) return tl::unexpected(std::move(loaded.error()));
  return context;
}

Result<std::shared_ptr<ssl_ctx_st>> TlsContext::prepare() const {
  return build(files_, applications_);
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

}  // namespace weir::net
