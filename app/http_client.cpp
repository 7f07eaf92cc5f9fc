#include "app/http_client.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "base/ascii.h"
#include "net/descriptor.h"
#include "net/tls_context.h"

namespace weir::app {
namespace {

constexpr std::string_view unix_prefix = "unix:";
constexpr timeval timeout{10, 0};  // for each step
constexpr std::size_t max_bytes = std::size_t{64} << 20;

using TlsContext = std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)>;
using Tls = std::unique_ptr<SSL, void (*)(SSL*)>;
using Certificate = std::unique_ptr<X509, void (*)(X509*)>;

std::string system_text(int code) {
  if (code == EAGAIN || code == EWOULDBLOCK || code == EINPROGRESS) return "no answer within 10 seconds";
  return std::generic_category().message(code);
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

// A connected socket, or none, and errno says why.
net::Descriptor connected(int family, const sockaddr* address, socklen_t size) {
  net::Descriptor socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int number = socket.number();
  const bool is_connected = socket.open() &&
                            setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) == 0 &&
                            setsockopt(number, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout) == 0 &&
                            ::connect(number, address, size) == 0;
  if (is_connected) return socket;
  const int code = errno;
  socket = {};
  errno = code;
  return {};
}

// To the first of the host's addresses that answers.
Result<net::Descriptor> connect(const Place& place) {
  net::Descriptor socket;
  if (place.endpoint.unix_socket()) {
    const auto address = net::Address::parse(place.endpoint.text());
    if (!address) return tl::unexpected(address.error());
    socket = connected(address->family(), address->system(), address->system_size());
  } else {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int code =
        getaddrinfo(place.endpoint.host.c_str(), std::to_string(place.endpoint.port).c_str(), &hints, &found);
    if (code != 0) return failure(place.text(), gai_strerror(code));
    for (const addrinfo* each = found; each != nullptr && !socket.open(); each = each->ai_next) {
      socket = connected(each->ai_family, each->ai_addr, each->ai_addrlen);
    }
    freeaddrinfo(found);
  }
  if (socket.open()) return socket;
  const bool is_closed = errno == ECONNREFUSED || errno == ENOENT;
  return failure(place.text(), is_closed ? "nobody listens there; `weir serve` starts a server, and says where it "
                                           "listens; --admin ADDRESS names another place"
                                         : system_text(errno));
}

Result<TlsContext> tls_context(const std::string& name, const TlsTrust& trust) {
  TlsContext owned(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  SSL_CTX* const context = owned.get();
  if (context == nullptr) return failure(name, tls_text());
  SSL_CTX_set_verify(context, trust.pinned.empty() ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  SSL_CTX_set_options(context, SSL_OP_IGNORE_UNEXPECTED_EOF);  // Content-Length tells whether an answer is whole
  const bool trusted = trust.ca.empty() ? net::trust_system_authorities(*context)
                                        : SSL_CTX_load_verify_file(context, trust.ca.c_str()) == 1;
  if (!trusted) return failure(trust.ca.empty() ? name : trust.ca, "holds no certificates that can be read");
  if (trust.certificate.empty()) return owned;
  if (SSL_CTX_use_certificate_chain_file(context, trust.certificate.c_str()) != 1) {
    return failure(trust.certificate, "holds no certificate that can be read: " + tls_text());
  }
  if (SSL_CTX_use_PrivateKey_file(context, trust.key.c_str(), SSL_FILETYPE_PEM) != 1) {
    return failure(trust.key, "holds no key that can be read, or another certificate's: " + tls_text());
  }
  return owned;
}

// The server has to prove that it is this one. False: out of memory.
bool expect_name(SSL* tls, std::string host) {
  if (is_ip(host)) return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), host.c_str()) == 1;
  return SSL_set1_host(tls, host.c_str()) == 1 &&
         SSL_ctrl(tls, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, host.data()) == 1;
}

// The certificate may be for another name than the address where the server was reached.
Result<void> check_pinned(SSL* tls, const std::string& name, const std::string& file) {
  const std::unique_ptr<BIO, int (*)(BIO*)> bytes(BIO_new_file(file.c_str(), "r"), BIO_free);
  const Certificate expected(bytes ? PEM_read_bio_X509(bytes.get(), nullptr, nullptr, nullptr) : nullptr, X509_free);
  if (!expected) return failure(file, "holds no certificate that can be read: " + tls_text());
  const Certificate shown(SSL_get1_peer_certificate(tls), X509_free);
  if (shown && X509_cmp(shown.get(), expected.get()) == 0) return {};
  return failure(name, "its certificate is not the one in " + file + "; --ca FILE names the authority that signed it");
}

Result<Tls> start_tls(const Place& place, const TlsTrust& trust, const net::Descriptor& socket) {
  const std::string name = place.text();
  const auto context = tls_context(name, trust);
  if (!context) return tl::unexpected(context.error());
  Tls tls(SSL_new(context->get()), SSL_free);
  if (!tls || SSL_set_fd(tls.get(), socket.number()) != 1 || !expect_name(tls.get(), place.endpoint.host)) {
    return failure(name, tls_text());
  }
  if (SSL_connect(tls.get()) != 1) {
    const long verified = SSL_get_verify_result(tls.get());
    if (verified == X509_V_OK) return failure(name, tls_text());
    return failure(name, std::string("its certificate is not accepted: ") + X509_verify_cert_error_string(verified) +
                             "; --ca FILE names the authority that signed it");
  }
  if (!trust.pinned.empty()) {
    if (auto checked = check_pinned(tls.get(), name, trust.pinned); !checked) return tl::unexpected(checked.error());
  }
  return tls;
}

// Behind `prefix`, which is in lower case; nothing if it is not in the head, or no number follows.
std::optional<std::size_t> number_behind(std::string_view prefix, std::string_view of_head) {
  const std::string head = base::lower(of_head);
  const std::size_t at = head.find(prefix);
  if (at == std::string::npos) return {};
  std::size_t number = 0;
  const auto read = std::from_chars(head.data() + at + prefix.size(), head.data() + head.size(), number);
  return read.ec == std::errc{} ? std::optional(number) : std::nullopt;
}

// Nothing if it is no response, or not a whole one.
std::optional<HttpResponse> read_response(const std::string& bytes) {
  const std::size_t end = bytes.find("\r\n\r\n");
  if (!bytes.starts_with("HTTP/1.") || end == std::string::npos) return {};
  const std::string head = bytes.substr(0, end);
  const auto status = number_behind(" ", head);
  const auto length = number_behind("\r\ncontent-length: ", head);
  std::string body = bytes.substr(end + 4);
  if (!status || (length && *length != body.size())) return {};
  return HttpResponse{static_cast<unsigned>(*status), std::move(body)};
}

// HTTP/1.0, so that the answer ends with the connection.
std::string request_text(const Place& place, std::string_view method, std::string_view target, std::string_view token) {
  std::string request(method);
  request.append(" ").append(target).append(" HTTP/1.0\r\nHost: ");
  request += place.endpoint.unix_socket() ? "localhost" : place.endpoint.text();
  if (!token.empty()) request.append("\r\nX-Weir-Token: ").append(token);
  return request += "\r\nContent-Length: 0\r\n\r\n";
}

constexpr auto no_answer = "its answer is not HTTP, or not whole; is it Weir's admin listener?";

}  // namespace

struct HttpConnection {
  std::string name;  // of the place
  net::Descriptor socket;
  Tls tls{nullptr, SSL_free};  // null: plain

  [[nodiscard]] static Result<std::unique_ptr<HttpConnection>> open(const Place& place, const TlsTrust& trust);
  [[nodiscard]] Result<void> send(std::string_view bytes);
  [[nodiscard]] Result<std::string> receive();  // empty at the end

 private:
  [[nodiscard]] tl::unexpected<Error> broken() const { return failure(name, tls ? tls_text() : system_text(errno)); }
};

Result<std::unique_ptr<HttpConnection>> HttpConnection::open(const Place& place, const TlsTrust& trust) {
  auto socket = connect(place);
  if (!socket) return tl::unexpected(socket.error());
  auto connection = std::make_unique<HttpConnection>();
  connection->name = place.text();
  if (place.tls) {
    auto tls = start_tls(place, trust, *socket);
    if (!tls) return tl::unexpected(tls.error());
    connection->tls = std::move(*tls);
  }
  connection->socket = std::move(*socket);
  return connection;
}

Result<void> HttpConnection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = tls ? SSL_write(tls.get(), bytes.data(), static_cast<int>(bytes.size()))
                          : ::send(socket.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return broken();
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

Result<std::string> HttpConnection::receive() {
  std::array<char, 16384> buffer{};
  const auto count = tls ? SSL_read(tls.get(), buffer.data(), static_cast<int>(buffer.size()))
                         : ::recv(socket.number(), buffer.data(), buffer.size(), 0);
  const bool has_ended =
      tls ? count <= 0 && SSL_get_error(tls.get(), static_cast<int>(count)) == SSL_ERROR_ZERO_RETURN : count == 0;
  if (has_ended) return std::string();
  if (count <= 0) return broken();
  return std::string(buffer.data(), static_cast<std::size_t>(count));
}

Result<Place> Place::parse(std::string_view text) {
  const auto no_place = [&] {
    return failure("`" + std::string(text) + "`",
                   "is not an address, like 127.0.0.1:8089, https://weir.example:8089 or unix:/run/weir/admin.sock");
  };
  std::string_view rest = text;
  if (rest.starts_with(unix_prefix)) {
    rest.remove_prefix(unix_prefix.size());
    if (rest.empty()) return no_place();
    return Place{{.host = {}, .port = 0, .path = std::string(rest)}};
  }
  Place place;
  place.tls = rest.starts_with("https://");
  if (place.tls || rest.starts_with("http://")) rest.remove_prefix(rest.find("//") + 2);
  if (rest.ends_with('/')) rest.remove_suffix(1);
  const std::size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos) return no_place();
  std::string_view host = rest.substr(0, colon);
  const std::string_view port = rest.substr(colon + 1);
  const bool is_bracketed = host.starts_with('[') && host.ends_with(']');
  if (is_bracketed) host = host.substr(1, host.size() - 2);
  const auto read = std::from_chars(port.data(), port.data() + port.size(), place.endpoint.port);
  const bool is_port = read.ec == std::errc{} && read.ptr == port.data() + port.size();
  const bool is_host = !host.empty() && host.find_first_of("/[]@ ") == std::string_view::npos &&
                       (is_bracketed || host.find(':') == std::string_view::npos);
  if (!is_port || !is_host) return no_place();
  place.endpoint.host = host;
  return place;
}

bool Place::local() const {
  const std::string& host = endpoint.host;
  return host.empty() || host == "localhost" || host == "::1" || (host.starts_with("127.") && is_ip(host));
}

Result<HttpResponse> http_request(const Place& place, const TlsTrust& trust, std::string_view method,
                                  std::string_view target, std::string_view token) {
  const auto connection = HttpConnection::open(place, trust);
  if (!connection) return tl::unexpected(connection.error());
  if (auto sent = (*connection)->send(request_text(place, method, target, token)); !sent) {
    return tl::unexpected(sent.error());
  }
  std::string all;
  while (true) {
    const auto more = (*connection)->receive();
    if (!more) return tl::unexpected(more.error());
    if (more->empty()) break;
    all += *more;
    if (all.size() > max_bytes) return failure(place.text(), "the answer is too long");
  }
  auto response = read_response(all);
  if (!response) return failure(place.text(), no_answer);
  return *std::move(response);
}

HttpStream::HttpStream(std::unique_ptr<HttpConnection> connection, unsigned status, std::string begun)
    : connection_(std::move(connection)), status_(status), begun_(std::move(begun)) {}

HttpStream::HttpStream(HttpStream&&) noexcept = default;
HttpStream& HttpStream::operator=(HttpStream&&) noexcept = default;
HttpStream::~HttpStream() = default;

Result<HttpStream> HttpStream::open(const Place& place, const TlsTrust& trust, std::string_view target,
                                    std::string_view token) {
  constexpr std::size_t max_head_size = 65536;
  auto connection = HttpConnection::open(place, trust);
  if (!connection) return tl::unexpected(connection.error());
  if (auto sent = (*connection)->send(request_text(place, "GET", target, token)); !sent) {
    return tl::unexpected(sent.error());
  }
  std::string begun;
  std::size_t end = std::string::npos;
  while (end == std::string::npos) {
    const auto more = (*connection)->receive();
    if (!more) return tl::unexpected(more.error());
    begun += *more;
    if (more->empty() || begun.size() > max_head_size) return failure(place.text(), no_answer);
    end = begun.find("\r\n\r\n");
  }
  const auto status = begun.starts_with("HTTP/1.") ? number_behind(" ", begun.substr(0, end)) : std::nullopt;
  if (!status) return failure(place.text(), no_answer);
  return HttpStream(std::move(*connection), static_cast<unsigned>(*status), begun.substr(end + 4));
}

Result<std::string> HttpStream::read() {
  if (!begun_.empty()) return std::exchange(begun_, {});
  return connection_->receive();
}

}  // namespace weir::app
