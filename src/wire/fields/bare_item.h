// One value of a Structured Field (RFC 9651): what members and parameters are made of.
//
// Pure; callable from anywhere. Texts are views into the field and live as long as it does.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace weir::wire {

struct BareItem {
  // `other` is a well-formed Decimal, Token, Boolean, Date or Display String: no field of ours uses them.
  enum class Type : std::uint8_t { integer, string, byte_sequence, other };

  Type type = Type::other;
  std::int64_t integer = 0;    // of an integer: at most 15 digits
  std::string_view text = {};  // of a string or byte sequence: what is between the delimiters, as written

  friend bool operator==(const BareItem&, const BareItem&) = default;
};

// Takes one value off the front of `rest`. Empty when none is well-formed there; `rest` is then void.
[[nodiscard]] std::optional<BareItem> take_bare_item(std::string_view& rest) noexcept;

}  // namespace weir::wire
