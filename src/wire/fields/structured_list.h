// Reads a Structured Field of type List (RFC 9651), member by member, without allocating:
//
//   ListReader list(field);
//   while (const auto member = list.next_member()) {
//     while (const auto parameter = list.next_parameter()) { ... }
//   }
//   if (!list.well_formed()) -> nothing that was read counts
//
// A field is refused as a whole: whoever reads looks at well_formed() once next_member() is empty, and drops everything
// if it is false. Refused as well: Inner Lists, since no field of ours has them; a field longer than `max_length`; one
// of more than `max_members`. Texts are views into the field. Not thread-safe, one reader per field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace weir::wire {

// One value: what members and parameters are made of.
struct BareItem {
  // `other` is a well-formed Decimal, Token, Boolean, Date or Display String: no field of ours uses them.
  enum class Type : std::uint8_t { integer, string, byte_sequence, other };

  Type type = Type::other;
  std::int64_t integer = 0;    // of an integer: at most 15 digits
  std::string_view text = {};  // of a string or byte sequence: what is between the delimiters, as written

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

  // Empty at the end of the list, and from the first error on.
  [[nodiscard]] std::optional<BareItem> next_member() noexcept;

  // Of the member that was read last. A key may come twice: then the later one counts.
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
