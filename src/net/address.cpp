#include "net/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <array>
#include <cstddef>
#include <cstring>

#include "base/number.h"

namespace weir::net {
namespace {

constexpr std::string_view unix_prefix = "unix:";
constexpr std::string_view forms = "write 127.0.0.1:8080, [::1]:8080, localhost:8080 or unix:/run/weir.sock";

template <class T>
T view_as(const sockaddr_storage& storage) noexcept {
  T seen{};
  std::memcpy(&seen, &storage, sizeof seen);
  return seen;
}

template <class T>
void store_as(sockaddr_storage& storage, const T& value) noexcept {
  std::memcpy(&storage, &value, sizeof value);
}

Result<std::uint16_t> parse_port(std::string_view whole, std::string_view text) {
  const auto port = base::parse_number<std::uint16_t>(text);
  if (!port) return failure(std::string(whole), "invalid port, expected 0 to 65535; " + std::string(forms));
  return *port;
}

}  // namespace

Result<Address> Address::parse_unix(std::string_view text) {
  const std::string whole(text);
  const std::string_view path = text.substr(unix_prefix.size());
  sockaddr_un local{};
  local.sun_family = AF_UNIX;
  if (path.empty() || path.find('\0') != std::string_view::npos) {
    return failure(whole, "missing path; " + std::string(forms));
  }
  if (path.size() >= sizeof local.sun_path) {
    return failure(whole, "unix socket path too long: at most " + std::to_string(sizeof local.sun_path - 1) +
                              " bytes; choose a shorter one");
  }
  std::memcpy(local.sun_path, path.data(), path.size());
  Address address;
  store_as(address.storage_, local);
  address.size_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  return address;
}

Result<Address> Address::parse(std::string_view text) {
  if (text.starts_with(unix_prefix)) return parse_unix(text);
  const std::string whole(text);
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return failure(whole, "missing port; " + std::string(forms));
  const auto port = parse_port(text, text.substr(colon + 1));
  if (!port) return tl::unexpected(port.error());
  Address address;
  std::string host(text.substr(0, colon));
  if (host == "localhost") host = "127.0.0.1";

  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
    sockaddr_in6 six{};
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(*port);
    if (inet_pton(AF_INET6, host.c_str(), &six.sin6_addr) != 1) {
      return failure(whole, "not an IPv6 address; " + std::string(forms));
    }
    store_as(address.storage_, six);
    address.size_ = sizeof six;
    return address;
  }
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_port = htons(*port);
  if (inet_pton(AF_INET, host.c_str(), &four.sin_addr) != 1) {
    return failure(whole, "not an IP address (host names are not resolved here); " + std::string(forms));
  }
  store_as(address.storage_, four);
  address.size_ = sizeof four;
  return address;
}

Address Address::from_system(const sockaddr_storage& storage, socklen_t size) noexcept {
  Address address;
  address.storage_ = storage;
  address.size_ = size;
  if (storage.ss_family != AF_INET6) return address;
  const auto six = view_as<sockaddr_in6>(storage);
  if (!IN6_IS_ADDR_V4MAPPED(&six.sin6_addr)) return address;
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_port = six.sin6_port;
  std::memcpy(&four.sin_addr, &six.sin6_addr.s6_addr[12], sizeof four.sin_addr);
  address.storage_ = {};
  store_as(address.storage_, four);
  address.size_ = sizeof four;
  return address;
}

std::string Address::host() const {
  if (unix_socket()) {
    const auto local = view_as<sockaddr_un>(storage_);
    constexpr std::size_t header = offsetof(sockaddr_un, sun_path);
    return size_ <= header ? std::string() : std::string(local.sun_path, strnlen(local.sun_path, size_ - header));
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (storage_.ss_family == AF_INET6) {
    const auto six = view_as<sockaddr_in6>(storage_);
    inet_ntop(AF_INET6, &six.sin6_addr, text.data(), text.size());
  } else {
    const auto four = view_as<sockaddr_in>(storage_);
    inet_ntop(AF_INET, &four.sin_addr, text.data(), text.size());
  }
  return text.data();
}

std::string Address::text() const {
  return unix_socket() ? Endpoint{{}, 0, host()}.text() : Endpoint{host(), port(), {}}.text();
}

std::uint16_t Address::port() const noexcept {
  if (storage_.ss_family == AF_INET6) return ntohs(view_as<sockaddr_in6>(storage_).sin6_port);
  if (storage_.ss_family == AF_INET) return ntohs(view_as<sockaddr_in>(storage_).sin_port);
  return 0;
}

bool Address::local() const noexcept {
  if (unix_socket()) return true;
  if (storage_.ss_family == AF_INET) return ntohl(view_as<sockaddr_in>(storage_).sin_addr.s_addr) >> 24 == 127;
  const auto six = view_as<sockaddr_in6>(storage_);
  return IN6_IS_ADDR_LOOPBACK(&six.sin6_addr) ||
         (IN6_IS_ADDR_V4MAPPED(&six.sin6_addr) && six.sin6_addr.s6_addr[12] == 127);
}

Address Address::bound(int socket) const noexcept {
  Address address;
  address.size_ = sizeof address.storage_;
  const bool known = ::getsockname(socket, reinterpret_cast<sockaddr*>(&address.storage_), &address.size_) == 0;
  return known ? address : *this;
}

std::string Endpoint::text() const {
  if (unix_socket()) return std::string(unix_prefix) + path;
  const bool six = host.find(':') != std::string::npos;
  return (six ? '[' + host + ']' : host) + ':' + std::to_string(port);
}

}  // namespace weir::net
