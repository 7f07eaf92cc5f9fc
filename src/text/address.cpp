#include "text/address.h"

#include <algorithm>
#include <array>

#include <arpa/inet.h>

#include "base/ascii.h"
#include "base/number.h"

namespace weir::text {
namespace {

constexpr std::array<std::uint8_t, 12> v4_in_v6{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr unsigned v4_in_v6_bits = 96;

// Reads four numbers up to 255, without leading zeros.
bool read_v4(std::string_view text, Address& address) noexcept {
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t i = 0; i < 4; ++i) {
    if (i > 0 && (at == end || *at++ != '.')) return false;
    const char* const begin = at;
    unsigned number = 0;
    for (; at != end && base::is_digit(*at); ++at) number = number * 10 + static_cast<unsigned>(*at - '0');
    if (at == begin || at - begin > 3 || number > 255 || (*begin == '0' && at - begin > 1)) return false;
    address.bytes[i] = static_cast<std::uint8_t>(number);
  }
  return at == end;
}

// Does not unmap: ::ffff:1.2.3.4 is an IPv6 address here.
std::optional<Address> parse_as_written(std::string_view text) noexcept {
  Address address;
  if (read_v4(text, address)) return address;
  std::array<char, INET6_ADDRSTRLEN> terminated{};
  if (text.empty() || text.size() >= terminated.size() || text.find('\0') != std::string_view::npos) return {};
  std::copy(text.begin(), text.end(), terminated.begin());
  address.family = Address::Family::v6;
  if (inet_pton(AF_INET6, terminated.data(), address.bytes.data()) == 1) return address;
  return {};
}

bool is_v4_in_v6(const Address& address) noexcept {
  return address.family == Address::Family::v6 && std::equal(v4_in_v6.begin(), v4_in_v6.end(), address.bytes.begin());
}

Address unmapped(const Address& address) noexcept {
  if (!is_v4_in_v6(address)) return address;
  Address v4;
  std::copy(address.bytes.begin() + v4_in_v6.size(), address.bytes.end(), v4.bytes.begin());
  return v4;
}

std::optional<unsigned> parse_prefix(std::string_view digits) noexcept {
  if (digits.size() > 3 || (digits.size() > 1 && digits.front() == '0')) return {};
  return base::parse_number<unsigned>(digits);
}

constexpr std::size_t max_port_digits = 5;
constexpr unsigned max_port = 65535;

bool is_port(std::string_view text) noexcept {
  if (text.starts_with('_')) {
    return base::consists_of(text.substr(1),
                             [](char c) { return base::is_letter_or_digit(c) || c == '.' || c == '_' || c == '-'; });
  }
  if (text.size() > max_port_digits || !base::consists_of(text, base::is_digit)) return false;
  unsigned number = 0;
  for (const char digit : text) number = number * 10 + static_cast<unsigned>(digit - '0');
  return number <= max_port;
}

// Parses an address, which may have a zone if it is IPv6. The zone after the `%` must be printable and not empty.
std::optional<Address> parse_with_zone(std::string_view text) noexcept {
  const std::size_t percent = text.find('%');
  if (percent == std::string_view::npos) return Address::parse(text);
  const auto is_zone_character = [](char c) {
    return base::is_printable(c) && c != ' ' && c != '%' && c != '[' && c != ']';
  };
  const bool is_v6 = text.substr(0, percent).find(':') != std::string_view::npos;
  if (!is_v6 || !base::consists_of(text.substr(percent + 1), is_zone_character)) return {};
  return Address::parse(text.substr(0, percent));
}

}  // namespace

std::optional<Address> Address::parse(std::string_view text) noexcept {
  Address v4;
  if (read_v4(text, v4)) return v4;  // the most common case
  const auto address = parse_as_written(text);
  if (!address) return {};
  return unmapped(*address);
}

std::optional<Address> Address::parse_endpoint(std::string_view text) noexcept {
  Address v4;
  if (read_v4(text, v4)) return v4;  // the most common case
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return {};
    const std::string_view rest = text.substr(close + 1);
    if (!rest.empty() && !(rest.starts_with(':') && is_port(rest.substr(1)))) return {};
    return parse_with_zone(text.substr(1, close - 1));
  }
  const std::size_t colon = text.find(':');
  const bool has_port = colon != std::string_view::npos && text.find(':', colon + 1) == std::string_view::npos;
  if (!has_port) return parse_with_zone(text);
  if (!is_port(text.substr(colon + 1)) || !read_v4(text.substr(0, colon), v4)) return {};
  return v4;
}

Address Address::network(unsigned prefix) const noexcept {
  Address result = *this;
  if (prefix >= bits()) return result;
  for (unsigned byte = 0; byte < bits() / 8; ++byte) {
    const unsigned before = byte * 8;
    const unsigned kept = prefix <= before ? 0 : std::min(prefix - before, 8U);
    result.bytes[byte] &= static_cast<std::uint8_t>(0xff00U >> kept);
  }
  return result;
}

std::string Address::text() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(family == Family::v4 ? AF_INET : AF_INET6, bytes.data(), text.data(), text.size());
  return text.data();
}

Result<AddressRange> AddressRange::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto written = parse_as_written(text.substr(0, slash));
  if (!written) {
    return failure(std::string(text), "not an IP address or range: write it as 10.0.0.0/8 or 2001:db8::/32");
  }
  unsigned prefix = written->bits();
  if (slash != std::string_view::npos) {
    const auto given = parse_prefix(text.substr(slash + 1));
    if (!given || *given > written->bits()) {
      return failure(std::string(text),
                     "the prefix length must be a number from 0 to " + std::to_string(written->bits()));
    }
    prefix = *given;
  }
  if (written->network(prefix) != *written) {
    return failure(std::string(text), "has bits beyond its prefix: write " + written->network(prefix).text() + "/" +
                                          std::to_string(prefix) + " for the range, or " + written->text() +
                                          " for a single address");
  }
  // A range within ::ffff:0:0/96 is IPv4; a shorter prefix would have had bits beyond it.
  const bool mapped = is_v4_in_v6(*written);
  return AddressRange{unmapped(*written), mapped ? prefix - v4_in_v6_bits : prefix};
}

bool AddressRange::contains(const Address& address) const noexcept {
  if (address.family != network.family) return false;
  const unsigned whole = prefix / 8;
  for (unsigned byte = 0; byte < whole; ++byte) {
    if (address.bytes[byte] != network.bytes[byte]) return false;
  }
  const unsigned rest = prefix % 8;
  return rest == 0 || (address.bytes[whole] ^ network.bytes[whole]) >> (8 - rest) == 0;
}

std::string AddressRange::text() const {
  return network.text() + (prefix == network.bits() ? "" : "/" + std::to_string(prefix));
}

}  // namespace weir::text
