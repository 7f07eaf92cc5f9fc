#include "app/http_client.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <algorithm>
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
constexpr timeval timeout{10, 0};  // timeout of each step
constexpr std::size_t max_bytes = std::size_t{64} << 20;

using TlsContext = std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)>;
using Tls = std::unique_ptr<SSL, void (*)(SSL*)>;
using Certificate = std::unique_ptr<X509, void (*)(X509*)>;

std::string system_text(int code) {
  if (code == EAGAIN || code == EWOULDBLOCK || code == EINPROGRESS) return "no answer within 10 s";
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

// Returns a connected socket. If it is not open, errno has the reason.
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

// Connects to the first of the host's addresses that accepts.
Result<net::Descriptor> connect(const ServerAddress& server) {
  net::Descriptor socket;
  if (server.endpoint.unix_socket()) {
    const auto address = net::Address::parse(server.endpoint.text());
    if (!address) return tl::unexpected(address.error());
    socket = connected(address->family(), address->system(), address->system_size());
  } else {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int code =
        getaddrinfo(server.endpoint.host.c_str(), std::to_string(server.endpoint.port).c_str(), &hints, &found);
    if (code != 0) return failure(server.text(), gai_strerror(code));
    for (const addrinfo* each = found; each != nullptr && !socket.open(); each = each->ai_next) {
      socket = connected(each->ai_family, each->ai_addr, each->ai_addrlen);
    }
    freeaddrinfo(found);
  }
  if (socket.open()) return socket;
  const bool is_closed = errno == ECONNREFUSED || errno == ENOENT;
  return failure(server.text(),
                 is_closed ? "connection refused; start a server with `weir serve`, or use --admin ADDRESS for another"
                           : system_text(errno));
}

Result<TlsContext> tls_context(const std::string& name, const TlsTrust& trust) {
  TlsContext owned(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  SSL_CTX* const context = owned.get();
  if (context == nullptr) return failure(name, tls_text());
  SSL_CTX_set_verify(context, trust.pinned.empty() ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  SSL_CTX_set_options(context, SSL_OP_IGNORE_UNEXPECTED_EOF);  // Content-Length detects an incomplete response
  const bool trusted = trust.ca.empty() ? net::trust_system_authorities(*context)
                                        : SSL_CTX_load_verify_file(context, trust.ca.c_str()) == 1;
  if (!trusted) return failure(trust.ca.empty() ? name : trust.ca, "contains no readable certificates");
  if (trust.certificate.empty()) return owned;
  if (SSL_CTX_use_certificate_chain_file(context, trust.certificate.c_str()) != 1) {
    return failure(trust.certificate, "contains no readable certificate: " + tls_text());
  }
  if (SSL_CTX_use_PrivateKey_file(context, trust.key.c_str(), SSL_FILETYPE_PEM) != 1) {
    return failure(trust.key, "contains no readable key, or the key of another certificate: " + tls_text());
  }
  return owned;
}

// Requires a certificate for this name. Returns false if out of memory.
bool expect_name(SSL* tls, std::string host) {
  if (is_ip(host)) return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), host.c_str()) == 1;
  return SSL_set1_host(tls, host.c_str()) == 1 &&
         SSL_ctrl(tls, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, host.data()) == 1;
}

// Compares the certificate itself, because its name may differ from the address.
Result<void> check_pinned(SSL* tls, const std::string& name, const std::string& file) {
  const std::unique_ptr<BIO, int (*)(BIO*)> bytes(BIO_new_file(file.c_str(), "r"), BIO_free);
  const Certificate expected(bytes ? PEM_read_bio_X509(bytes.get(), nullptr, nullptr, nullptr) : nullptr, X509_free);
  if (!expected) return failure(file, "contains no readable certificate: " + tls_text());
  const Certificate shown(SSL_get1_peer_certificate(tls), X509_free);
  if (shown && X509_cmp(shown.get(), expected.get()) == 0) return {};
  return failure(name,
                 "server certificate differs from the one in " + file + "; use --ca FILE for the CA that signed it");
}

Result<Tls> start_tls(const ServerAddress& server, const TlsTrust& trust, const net::Descriptor& socket) {
  const std::string name = server.text();
  const auto context = tls_context(name, trust);
  if (!context) return tl::unexpected(context.error());
  Tls tls(SSL_new(context->get()), SSL_free);
  if (!tls || SSL_set_fd(tls.get(), socket.number()) != 1 || !expect_name(tls.get(), server.endpoint.host)) {
    return failure(name, tls_text());
  }
  if (SSL_connect(tls.get()) != 1) {
    const long verified = SSL_get_verify_result(tls.get());
    if (verified == X509_V_OK) return failure(name, tls_text());
    return failure(name, std::string("server certificate not accepted: ") + X509_verify_cert_error_string(verified) +
                             "; use --ca FILE for the CA that signed it");
  }
  if (!trust.pinned.empty()) {
    if (auto checked = check_pinned(tls.get(), name, trust.pinned); !checked) return tl::unexpected(checked.error());
  }
  return tls;
}

// Returns the number after `prefix`, which must be in lower case.
std::optional<std::size_t> number_behind(std::string_view prefix, std::string_view of_head) {
  const std::string head = base::lower(of_head);
  const std::size_t at = head.find(prefix);
  if (at == std::string::npos) return {};
  std::size_t number = 0;
  const auto read = std::from_chars(head.data() + at + prefix.size(), head.data() + head.size(), number);
  return read.ec == std::errc{} ? std::optional(number) : std::nullopt;
}

// Returns no value for an invalid or incomplete response.
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

// The request uses HTTP/1.0, so the response ends with the connection.
std::string request_text(const ServerAddress& server, std::string_view method, std::string_view target,
                         std::string_view token, std::string_view body = {}) {
  std::string request(method);
  request.append(" ").append(target).append(" HTTP/1.0\r\nHost: ");
  request += server.endpoint.unix_socket() ? "localhost" : server.endpoint.text();
  if (!token.empty()) request.append("\r\nX-Weir-Token: ").append(token);
  request += "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n";
  return request += body;
}

constexpr auto invalid_response = "response is not HTTP, or incomplete; is this Weir's admin listener?";

}  // namespace

struct HttpConnection {
  std::string name;  // the name of the server, for errors
  net::Descriptor socket;
  Tls tls{nullptr, SSL_free};  // null: plain

  [[nodiscard]] static Result<std::unique_ptr<HttpConnection>> open(const ServerAddress& server, const TlsTrust& trust);
  [[nodiscard]] Result<void> send(std::string_view bytes);
  [[nodiscard]] Result<std::string> receive();  // returns an empty text at the end

 private:
  [[nodiscard]] tl::unexpected<Error> broken() const { return failure(name, tls ? tls_text() : system_text(errno)); }
};

Result<std::unique_ptr<HttpConnection>> HttpConnection::open(const ServerAddress& server, const TlsTrust& trust) {
  auto socket = connect(server);
  if (!socket) return tl::unexpected(socket.error());
  auto connection = std::make_unique<HttpConnection>();
  connection->name = server.text();
  if (server.tls) {
    auto tls = start_tls(server, trust, *socket);
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

Result<ServerAddress> ServerAddress::parse(std::string_view text) {
  const auto invalid = [&] {
    return failure(
        "`" + std::string(text) + "`",
        "invalid address; write it like 127.0.0.1:8089, https://weir.example:8089 or unix:/run/weir/admin.sock");
  };
  std::string_view rest = text;
  if (rest.starts_with(unix_prefix)) {
    rest.remove_prefix(unix_prefix.size());
    if (rest.empty()) return invalid();
    return ServerAddress{{.host = {}, .port = 0, .path = std::string(rest)}};
  }
  const std::string on_this_host = "127.0.0.1:" + std::string(text);
  if (!text.empty() && std::ranges::all_of(text, base::is_digit)) rest = on_this_host;
  ServerAddress server;
  server.tls = rest.starts_with("https://");
  if (server.tls || rest.starts_with("http://")) rest.remove_prefix(rest.find("//") + 2);
  if (rest.ends_with('/')) rest.remove_suffix(1);
  const std::size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos) return invalid();
  std::string_view host = rest.substr(0, colon);
  const std::string_view port = rest.substr(colon + 1);
  const bool is_bracketed = host.starts_with('[') && host.ends_with(']');
  if (is_bracketed) host = host.substr(1, host.size() - 2);
  const auto read = std::from_chars(port.data(), port.data() + port.size(), server.endpoint.port);
  const bool is_port = read.ec == std::errc{} && read.ptr == port.data() + port.size();
  const bool is_host = !host.empty() && host.find_first_of("/[]@ ") == std::string_view::npos &&
                       (is_bracketed || host.find(':') == std::string_view::npos);
  if (!is_port || !is_host) return invalid();
  server.endpoint.host = host;
  return server;
}

bool ServerAddress::local() const {
  const std::string& host = endpoint.host;
  return host.empty() || host == "localhost" || host == "::1" || (host.starts_with("127.") && is_ip(host));
}

Result<HttpResponse> http_request(const ServerAddress& server, const TlsTrust& trust, std::string_view method,
                                  std::string_view target, std::string_view token, std::string_view body) {
  const auto connection = HttpConnection::open(server, trust);
  if (!connection) return tl::unexpected(connection.error());
  if (auto sent = (*connection)->send(request_text(server, method, target, token, body)); !sent) {
    return tl::unexpected(sent.error());
  }
  std::string all;
  while (true) {
    const auto more = (*connection)->receive();
    if (!more) return tl::unexpected(more.error());
    if (more->empty()) break;
    all += *more;
    if (all.size() > max_bytes) return failure(server.text(), "response too long");
  }
  auto response = read_response(all);
  if (!response) return failure(server.text(), invalid_response);
  return *std::move(response);
}

HttpStream::HttpStream(std::unique_ptr<HttpConnection> connection, unsigned status, std::string received)
    : connection_(std::move(connection)), status_(status), received_(std::move(received)) {}

HttpStream::HttpStream(HttpStream&&) noexcept = default;
HttpStream& HttpStream::operator=(HttpStream&&) noexcept = default;
HttpStream::~HttpStream() = default;

Result<HttpStream> HttpStream::open(const ServerAddress& server, const TlsTrust& trust, std::string_view target,
                                    std::string_view token) {
  constexpr std::size_t max_head_size = 65536;
  auto connection = HttpConnection::open(server, trust);
  if (!connection) return tl::unexpected(connection.error());
  if (auto sent = (*connection)->send(request_text(server, "GET", target, token)); !sent) {
    return tl::unexpected(sent.error());
  }
  std::string received;
  std::size_t end = std::string::npos;
  while (end == std::string::npos) {
    const auto more = (*connection)->receive();
    if (!more) return tl::unexpected(more.error());
    received += *more;
    if (more->empty() || received.size() > max_head_size) return failure(server.text(), invalid_response);
    end = received.find("\r\n\r\n");
  }
  const auto status = received.starts_with("HTTP/1.") ? number_behind(" ", received.substr(0, end)) : std::nullopt;
  if (!status) return failure(server.text(), invalid_response);
  return HttpStream(std::move(*connection), static_cast<unsigned>(*status), received.substr(end + 4));
}

Result<std::string> HttpStream::read() {
  if (!received_.empty()) return std::exchange(received_, {});
  return connection_->receive();
}

}  // namespace weir::app
