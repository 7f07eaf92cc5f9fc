// Reads a Structured Field of type List (RFC 9651), member by member, without allocating:
//
//   ListReader list(field);
//   while (const auto member = list.next_member()) {
//     while (const auto parameter = list.next_parameter()) { ... }
//   }
//   if (!list.well_formed()) -> discard everything
//
// A field is rejected as a whole: once next_member() is empty, the caller must check well_formed() and discard
// everything if it is false. Also rejected are Inner Lists, which no supported field uses, and fields longer than
// `max_length` or with more than `max_members`. Texts are views into the field. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace weir::wire {

// The value of a member or parameter.
struct BareItem {
  // `other` is a well-formed Decimal, Token, Boolean, Date or Display String, which no supported field uses.
  enum class Type : std::uint8_t { integer, string, byte_sequence, other };

  Type type = Type::other;
  std::int64_t integer = 0;    // at most 15 digits
  std::string_view text = {};  // the value of a string or byte sequence, as written between the delimiters

  friend bool operator==(const BareItem&, const BareItem&) = default;
};

class ListReader {
 public:
  static constexpr std::size_t max_length = 8192;
  static constexpr std::size_t max_members = 64;

  struct Parameter {
    std::string_view key;
    BareItem value;
  };

  explicit ListReader(std::string_view field) noexcept;

  // Empty at the end of the list and after an error.
  [[nodiscard]] std::optional<BareItem> next_member() noexcept;

  // The next parameter of the last member. The last of duplicate keys takes precedence.
  [[nodiscard]] std::optional<Parameter> next_parameter() noexcept;

  [[nodiscard]] bool well_formed() const noexcept { return well_formed_; }

 private:
  bool step_to_member() noexcept;
  void refuse() noexcept;

  std::string_view rest_;
  std::size_t members_ = 0;
  bool well_formed_ = true;
};

}  // namespace weir::wire
