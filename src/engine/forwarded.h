// The entries of X-Forwarded-For and Forwarded (RFC 7239), read from the right.
#pragma once

#include <optional>
#include <string_view>

#include "policy/address.h"

namespace weir::engine {

// The elements of a comma-separated list, the last first. Commas in quotes do not separate.
class ListFromRight {
 public:
  explicit ListFromRight(std::string_view list) noexcept : rest_(list) {}

  // Empty at the end. An element may itself be empty text.
  std::optional<std::string_view> next() noexcept;

 private:
  std::string_view rest_;
  bool done_ = false;
};

// The value of `for=` in one element of Forwarded, without its quotes; empty if there is none.
[[nodiscard]] std::string_view for_parameter(std::string_view element) noexcept;

// An address as proxies write it: 192.0.2.1, 192.0.2.1:443, [2001:db8::1]:443, 2001:db8::1, each maybe in quotes.
[[nodiscard]] std::optional<policy::Address> address_of_hop(std::string_view entry) noexcept;

}  // namespace weir::engine
