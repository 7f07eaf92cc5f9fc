#include "app/client_socket.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace weir::app {
namespace {

constexpr std::string_view unix_prefix = "unix:";

std::string system_text(int code) {
  if (code == EAGAIN || code == EWOULDBLOCK || code == EINPROGRESS) return "no answer within 10 seconds";
  return std::generic_category().message(code);
}

tl::unexpected<Error> no_place(std::string_view text) {
  return failure("`" + std::string(text) + "`",
                 "is not an address, like 127.0.0.1:8089, https://weir.example:8089 "
                 "or unix:/run/weir/admin.sock");
}

tl::unexpected<Error> nobody_there(const std::string& where, int code) {
  const bool is_closed = code == ECONNREFUSED || code == ENOENT;
  return failure(where, is_closed ? "nobody listens there; `weir serve` starts a server, and says where it listens; "
                                    "--admin ADDRESS names another place"
                                  : system_text(code));
}

bool set_patience(int descriptor) {
  const timeval time{ClientSocket::patience.count(), 0};
  return setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time) == 0 &&
         setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time) == 0;
}

// A connected socket, or minus what errno says.
int connected(int family, const sockaddr* address, socklen_t size) {
  const int descriptor = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -errno;
  if (set_patience(descriptor) && ::connect(descriptor, address, size) == 0) return descriptor;
  const int code = errno;
  close(descriptor);
  return -code;
}

int connect_unix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return -ENAMETOOLONG;
  std::ranges::copy(path, address.sun_path);
  return connected(AF_UNIX, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

// The first of the host's addresses that answers.
Result<int> connect_tcp(const Place& place) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int code = getaddrinfo(place.host.c_str(), place.port.c_str(), &hints, &found); code != 0) {
    return failure(place.text(), gai_strerror(code));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(found, freeaddrinfo);
  int result = -ENOENT;
  for (const addrinfo* each = found; each != nullptr && result < 0; each = each->ai_next) {
    result = connected(each->ai_family, each->ai_addr, each->ai_addrlen);
  }
  return result;
}

std::string tls_text() {
  const unsigned long code = ERR_peek_last_error();
  const char* const reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  ERR_clear_error();
  return reason == nullptr ? "the TLS connection failed" : reason;
}

bool is_ip(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  return inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
         inet_pton(AF_INET6, host.c_str(), address.data()) == 1;
}

// The server has to prove that it is this one. False: out of memory.
bool expect_name(SSL* stream, std::string host) {
  if (is_ip(host)) return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(stream), host.c_str()) == 1;
  return SSL_set1_host(stream, host.c_str()) == 1 &&
         SSL_ctrl(stream, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, host.data()) == 1;
}

}  // namespace

struct ClientSocket::Tls {
  std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context{SSL_CTX_new(TLS_client_method()), SSL_CTX_free};
  std::unique_ptr<SSL, void (*)(SSL*)> stream{nullptr, SSL_free};
};

Result<Place> Place::parse(std::string_view text) {
  std::string_view rest = text;
  if (rest.starts_with(unix_prefix)) {
    rest.remove_prefix(unix_prefix.size());
    if (rest.empty()) return no_place(text);
    return Place{.host = {}, .port = {}, .path = std::string(rest)};
  }
  Place place;
  place.tls = rest.starts_with("https://");
  if (place.tls || rest.starts_with("http://")) rest.remove_prefix(rest.find("//") + 2);
  if (rest.ends_with('/')) rest.remove_suffix(1);
  const std::size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos) return no_place(text);
  std::string_view host = rest.substr(0, colon);
  const std::string_view port = rest.substr(colon + 1);
  const bool is_bracketed = host.starts_with('[') && host.ends_with(']');
  if (is_bracketed) host = host.substr(1, host.size() - 2);
  const bool is_number =
      !port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == std::string_view::npos;
  const bool is_host = !host.empty() && host.find_first_of("/[]@ ") == std::string_view::npos &&
                       (is_bracketed || host.find(':') == std::string_view::npos);
  if (!is_number || !is_host) return no_place(text);
  place.host = host;
  place.port = port;
  return place;
}

std::string Place::text() const {
  if (host.empty()) return std::string(unix_prefix) + path;
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return (tls ? "https://" : "") + (is_ipv6 ? "[" + host + "]" : host) + ":" + port;
}

bool Place::local() const {
  return host.empty() || host == "localhost" || host == "::1" || (host.starts_with("127.") && is_ip(host));
}

ClientSocket::ClientSocket(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}

ClientSocket::ClientSocket(ClientSocket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), name_(std::move(other.name_)), tls_(std::move(other.tls_)) {}

ClientSocket::~ClientSocket() {
  if (descriptor_ >= 0) close(descriptor_);
}

Result<ClientSocket> ClientSocket::connect(const Place& place, const TlsTrust& trust) {
  const Result<int> descriptor = place.host.empty() ? Result<int>(connect_unix(place.path)) : connect_tcp(place);
  if (!descriptor) return tl::unexpected(descriptor.error());
  if (*descriptor < 0) return nobody_there(place.text(), -*descriptor);
  ClientSocket socket(*descriptor, place.text());
  if (place.tls) {
    if (auto started = socket.start_tls(place, trust); !started) return tl::unexpected(started.error());
  }
  return socket;
}

Result<void> ClientSocket::prepare_tls(const TlsTrust& trust) {
  tls_ = std::make_unique<Tls>();
  SSL_CTX* const context = tls_->context.get();
  if (context == nullptr) return failure(name_, tls_text());
  SSL_CTX_set_verify(context, trust.pinned.empty() ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  SSL_CTX_set_options(context, SSL_OP_IGNORE_UNEXPECTED_EOF);  // that an answer is whole is seen by its length
  const int trusted = trust.ca.empty() ? SSL_CTX_set_default_verify_paths(context)
                                       : SSL_CTX_load_verify_file(context, trust.ca.c_str());
  if (trusted != 1) return failure(trust.ca.empty() ? name_ : trust.ca, "holds no certificates that can be read");
  if (trust.certificate.empty()) return {};
  if (SSL_CTX_use_certificate_chain_file(context, trust.certificate.c_str()) != 1) {
    return failure(trust.certificate, "holds no certificate that can be read: " + tls_text());
  }
  if (SSL_CTX_use_PrivateKey_file(context, trust.key.c_str(), SSL_FILETYPE_PEM) != 1) {
    return failure(trust.key, "holds no key that can be read, or another certificate's: " + tls_text());
  }
  return {};
}

// The server may be called otherwise than the address that it is asked at.
Result<void> ClientSocket::check_pinned(const std::string& file) {
  const std::unique_ptr<BIO, int (*)(BIO*)> bytes(BIO_new_file(file.c_str(), "r"), BIO_free);
  const std::unique_ptr<X509, void (*)(X509*)> expected(
      bytes ? PEM_read_bio_X509(bytes.get(), nullptr, nullptr, nullptr) : nullptr, X509_free);
  if (!expected) return failure(file, "holds no certificate that can be read: " + tls_text());
  const std::unique_ptr<X509, void (*)(X509*)> shown(SSL_get1_peer_certificate(tls_->stream.get()), X509_free);
  if (shown && X509_cmp(shown.get(), expected.get()) == 0) return {};
  return failure(name_, "its certificate is not the one in " + file + "; --ca FILE names the authority that signed it");
}

Result<void> ClientSocket::start_tls(const Place& place, const TlsTrust& trust) {
  if (auto prepared = prepare_tls(trust); !prepared) return prepared;
  tls_->stream.reset(SSL_new(tls_->context.get()));
  SSL* const stream = tls_->stream.get();
  if (stream == nullptr || SSL_set_fd(stream, descriptor_) != 1) return failure(name_, tls_text());
  if (!expect_name(stream, place.host)) return failure(name_, tls_text());
  if (SSL_connect(stream) == 1) return trust.pinned.empty() ? Result<void>() : check_pinned(trust.pinned);
  const long verified = SSL_get_verify_result(stream);
  if (verified == X509_V_OK) return failure(name_, tls_text());
  return failure(name_, std::string("its certificate is not accepted: ") + X509_verify_cert_error_string(verified) +
                            "; --ca FILE names the authority that signed it");
}

Result<void> ClientSocket::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = tls_ ? SSL_write(tls_->stream.get(), bytes.data(), static_cast<int>(bytes.size()))
                           : ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return failure(name_, tls_ ? tls_text() : system_text(errno));
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

Result<std::size_t> ClientSocket::receive_some(char* bytes, std::size_t size) {
  if (!tls_) {
    const ssize_t count = ::recv(descriptor_, bytes, size, 0);
    if (count < 0) return failure(name_, system_text(errno));
    return static_cast<std::size_t>(count);
  }
  const int count = SSL_read(tls_->stream.get(), bytes, static_cast<int>(size));
  if (count > 0) return static_cast<std::size_t>(count);
  if (SSL_get_error(tls_->stream.get(), count) == SSL_ERROR_ZERO_RETURN) return 0;
  return failure(name_, tls_text());
}

Result<std::string> ClientSocket::receive(std::size_t most) {
  std::string all;
  std::array<char, 16384> buffer{};
  while (all.size() <= most) {
    const Result<std::size_t> count = receive_some(buffer.data(), buffer.size());
    if (!count) return tl::unexpected(count.error());
    if (*count == 0) return all;
    all.append(buffer.data(), *count);
  }
  return failure(name_, "the answer is too long");
}

}  // namespace weir::app
