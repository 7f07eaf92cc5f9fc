#include "net/tls_stream.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <utility>

#include "net/tls_context.h"

namespace weir::net {

void TlsStream::Free::operator()(ssl_st* ssl) const noexcept {
  SSL_free(ssl);
}

TlsStream::TlsStream(std::unique_ptr<ssl_st, Free> ssl, bio_st* incoming, bio_st* outgoing) noexcept
    : ssl_(std::move(ssl)), incoming_(incoming), outgoing_(outgoing) {}

std::unique_ptr<TlsStream> TlsStream::make(ssl_ctx_st& context) {
  auto stream = over_memory(context);
  if (stream) SSL_set_accept_state(stream->ssl_.get());
  return stream;
}

std::unique_ptr<TlsStream> TlsStream::make_client(ssl_ctx_st& context, const std::string& server_name) {
  auto stream = over_memory(context);
  if (!stream) return nullptr;
  SSL* const ssl = stream->ssl_.get();
  SSL_set_connect_state(ssl);
  if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), server_name.c_str()) == 1) return stream;
  SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  if (server_name.empty() || SSL_set1_host(ssl, server_name.c_str()) != 1) return nullptr;
  // SSL_set_tlsext_host_name without its old-style cast. OpenSSL only reads the name.
  char* const name = const_cast<char*>(server_name.c_str());
  if (SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name) != 1) return nullptr;
  return stream;
}

std::unique_ptr<TlsStream> TlsStream::over_memory(ssl_ctx_st& context) {
  std::unique_ptr<ssl_st, Free> ssl(SSL_new(&context));
  BIO* const incoming = BIO_new(BIO_s_mem());
  BIO* const outgoing = BIO_new(BIO_s_mem());
  if (!ssl || incoming == nullptr || outgoing == nullptr) {
    BIO_free(incoming);
    BIO_free(outgoing);
    return nullptr;
  }
  BIO_set_mem_eof_return(incoming, -1);  // an empty buffer is not the end of input
  SSL_set_bio(ssl.get(), incoming, outgoing);
  return std::unique_ptr<TlsStream>(new TlsStream(std::move(ssl), incoming, outgoing));
}

void TlsStream::receive(std::span<const char> wire) {
  std::size_t written = 0;
  BIO_write_ex(incoming_, wire.data(), wire.size(), &written);  // a memory BIO takes everything
}

void TlsStream::take_wire(std::string& to) {
  const std::size_t waiting = BIO_ctrl_pending(outgoing_);
  if (waiting == 0) return;
  const std::size_t before = to.size();
  to.resize(before + waiting);
  std::size_t taken = 0;
  BIO_read_ex(outgoing_, to.data() + before, waiting, &taken);
  to.resize(before + taken);
}

TlsStream::Handshake TlsStream::handshake() {
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_.get());
  if (result == 1) return Handshake::done;
  return SSL_get_error(ssl_.get(), result) == SSL_ERROR_WANT_READ ? Handshake::in_progress : Handshake::failed;
}

TlsStream::Reading TlsStream::read(InputBuffer& to) {
  ERR_clear_error();
  while (true) {
    const std::span<char> room = to.room();
    if (room.empty()) return Reading::full;
    std::size_t count = 0;
    const int result = SSL_read_ex(ssl_.get(), room.data(), room.size(), &count);
    if (result == 1) {
      to.fill(count);
      continue;
    }
    switch (SSL_get_error(ssl_.get(), result)) {
      case SSL_ERROR_WANT_READ:
        return Reading::drained;
      case SSL_ERROR_ZERO_RETURN:
        return Reading::ended;
      default:
        return Reading::failed;
    }
  }
}

bool TlsStream::write(std::string_view plain) {
  if (plain.empty()) return true;
  ERR_clear_error();
  std::size_t written = 0;
  return SSL_write_ex(ssl_.get(), plain.data(), plain.size(), &written) == 1;
}

void TlsStream::shut() {
  ERR_clear_error();
  SSL_shutdown(ssl_.get());
}

std::string TlsStream::problem() const {
  const long verified = SSL_get_verify_result(ssl_.get());
  return verified == X509_V_OK ? tls_reason() : X509_verify_cert_error_string(verified);
}

std::string TlsStream::client_subject() const {
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(SSL_get1_peer_certificate(ssl_.get()), X509_free);
  if (!certificate || SSL_get_verify_result(ssl_.get()) != X509_V_OK) return {};
  const std::unique_ptr<BIO, decltype(&BIO_free)> text(BIO_new(BIO_s_mem()), BIO_free);
  if (!text || X509_NAME_print_ex(text.get(), X509_get_subject_name(certificate.get()), 0, XN_FLAG_RFC2253) < 0) {
    return {};
  }
  char* data = nullptr;
  const long size = BIO_get_mem_data(text.get(), &data);
  return size > 0 ? std::string(data, static_cast<std::size_t>(size)) : std::string();
}

std::string TlsStream::application() const {
  const unsigned char* name = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(ssl_.get(), &name, &size);
  return size > 0 ? std::string(reinterpret_cast<const char*>(name), size) : std::string();
}

}  // namespace weir::net
