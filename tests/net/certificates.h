// Temporary certificates made by OpenSSL, and a TLS client.
#pragma once

#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/time.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "tests/net/client.h"

namespace weir::net {

template <auto free>
struct FreeWith {
  template <class T>
  void operator()(T* object) const noexcept {
    free(object);
  }
};
using Key = std::unique_ptr<EVP_PKEY, FreeWith<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, FreeWith<X509_free>>;

struct Identity {
  Key key;
  Certificate certificate;

  void write(const std::string& certificate_file, const std::string& key_file) const {
    std::FILE* file = std::fopen(certificate_file.c_str(), "w");
    EXPECT_EQ(PEM_write_X509(file, certificate.get()), 1);
    std::fclose(file);
    file = std::fopen(key_file.c_str(), "w");
    EXPECT_EQ(PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr), 1);
    std::fclose(file);
  }
};

inline void add_extension(X509* x509, int kind, const char* value) {
  X509_EXTENSION* const made = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value);
  X509_add_ext(x509, made, -1);
  X509_EXTENSION_free(made);
}

// Signed by `issuer`, or a self-signed CA without one. `other_names` is like `DNS:redis.test,IP:127.0.0.1`.
inline Identity make_identity(const std::string& name, const Identity* issuer = nullptr,
                              const std::string& other_names = "") {
  Identity made{Key(EVP_EC_gen("P-256")), Certificate(X509_new())};
  X509* const x509 = made.certificate.get();
  X509_set_version(x509, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(x509), static_cast<long>(std::hash<std::string>{}(name) % 1'000'000));
  X509_gmtime_adj(X509_getm_notBefore(x509), -3600);
  X509_gmtime_adj(X509_getm_notAfter(x509), 3600);
  X509_set_pubkey(x509, made.key.get());
  const auto* const text = reinterpret_cast<const unsigned char*>(name.c_str());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(x509), "CN", MBSTRING_ASC, text, -1, -1, 0);
  const Identity& signer = issuer != nullptr ? *issuer : made;
  X509_set_issuer_name(x509, X509_get_subject_name(signer.certificate.get()));
  add_extension(x509, NID_basic_constraints, issuer != nullptr ? "CA:FALSE" : "critical,CA:TRUE");
  if (!other_names.empty()) add_extension(x509, NID_subject_alt_name, other_names.c_str());
  EXPECT_GT(X509_sign(x509, signer.key.get(), EVP_sha256()), 0);
  return made;
}

struct TlsSettings {
  const Identity* trusted = nullptr;   // the CA of the server's certificate
  const Identity* identity = nullptr;  // the client certificate
  std::string_view alpn;               // in wire format
  int version = 0;                     // 0: the highest
};

class TlsClient {
 public:
  TlsClient(const Address& address, const TlsSettings& settings)
      : client_(address), context_(SSL_CTX_new(TLS_client_method())) {
    const timeval limit{std::chrono::seconds(timeout).count(), 0};
    ::setsockopt(client_.number(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (settings.trusted != nullptr) {
      X509_STORE_add_cert(SSL_CTX_get_cert_store(context_.get()), settings.trusted->certificate.get());
      SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
    }
    if (settings.identity != nullptr) {
      SSL_CTX_use_certificate(context_.get(), settings.identity->certificate.get());
      SSL_CTX_use_PrivateKey(context_.get(), settings.identity->key.get());
    }
    if (settings.version != 0) {
      SSL_CTX_set_min_proto_version(context_.get(), settings.version);
      SSL_CTX_set_max_proto_version(context_.get(), settings.version);
      if (settings.version < TLS1_2_VERSION) SSL_CTX_set_security_level(context_.get(), 0);
    }
    ssl_.reset(SSL_new(context_.get()));
    const auto* const alpn = reinterpret_cast<const unsigned char*>(settings.alpn.data());
    SSL_set_alpn_protos(ssl_.get(), alpn, static_cast<unsigned int>(settings.alpn.size()));
    SSL_set_fd(ssl_.get(), client_.number());
    connected_ = SSL_connect(ssl_.get()) == 1;
  }

  [[nodiscard]] bool connected() const noexcept { return connected_; }
  [[nodiscard]] Client& socket() noexcept { return client_; }

  // Returns false if it cannot be sent.
  bool send(std::string_view bytes) {
    return connected_ && SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size())) > 0;
  }

  // Reads until `size` bytes or the end.
  std::string receive(std::size_t size) {
    std::string all;
    std::array<char, 16384> buffer;
    while (connected_ && all.size() < size) {
      const int count = SSL_read(ssl_.get(), buffer.data(), static_cast<int>(buffer.size()));
      if (count <= 0) {
        ended_well_ = SSL_get_error(ssl_.get(), count) == SSL_ERROR_ZERO_RETURN;
        break;
      }
      all.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return all;
  }

  // Empty without a response.
  std::string ask(std::string_view bytes) { return send(bytes) ? receive(bytes.size()) : std::string(); }

  void say_end() { SSL_shutdown(ssl_.get()); }
  [[nodiscard]] bool ended_well() const noexcept { return ended_well_; }  // with a close notification

  [[nodiscard]] std::string server_name() const {
    const Certificate certificate(SSL_get1_peer_certificate(ssl_.get()));
    std::array<char, 100> name{};
    if (certificate) {
      X509_NAME_get_text_by_NID(X509_get_subject_name(certificate.get()), NID_commonName, name.data(), name.size());
    }
    return name.data();
  }

 private:
  Client client_;
  std::unique_ptr<SSL_CTX, FreeWith<SSL_CTX_free>> context_;
  std::unique_ptr<SSL, FreeWith<SSL_free>> ssl_;
  bool connected_ = false;
  bool ended_well_ = false;
};

}  // namespace weir::net
