// IP addresses and ranges. An IPv4-mapped IPv6 address (::ffff:1.2.3.4) is treated as the IPv4 address.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "weir/result.h"

namespace weir::text {

struct Address {
  enum class Family : std::uint8_t { v4 = 4, v6 = 6 };

  Family family = Family::v4;
  std::array<std::uint8_t, 16> bytes{};  // v4: the first four

  // Accepts no port, brackets or zone.
  static std::optional<Address> parse(std::string_view text) noexcept;

  // Accepts the forms in which sockets and proxies write a peer: 192.0.2.7, 192.0.2.7:51234, 2001:db8::1,
  // [2001:db8::1], [2001:db8::1]:443. The port is a number up to 65535, or a name as in RFC 7239 (`_http`). A zone
  // (fe80::1%eth0) names an interface of the machine that wrote it, and is ignored.
  static std::optional<Address> parse_endpoint(std::string_view text) noexcept;

  // The address with all bits after the first `prefix` cleared.
  [[nodiscard]] Address network(unsigned prefix) const noexcept;
  [[nodiscard]] unsigned bits() const noexcept { return family == Family::v4 ? 32 : 128; }
  [[nodiscard]] std::string text() const;

  friend bool operator==(const Address&, const Address&) = default;
};

// 10.0.0.0/8, or one address. Bits beyond the prefix must be zero: 10.1.2.3/8 is an error.
struct AddressRange {
  Address network;
  unsigned prefix = 32;

  static Result<AddressRange> parse(std::string_view text);

  [[nodiscard]] bool contains(const Address& address) const noexcept;
  [[nodiscard]] std::string text() const;

  friend bool operator==(const AddressRange&, const AddressRange&) = default;
};

}  // namespace weir::text
