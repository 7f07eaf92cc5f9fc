#include "wire/fields/bare_item.h"

#include <cstddef>

#include "wire/fields/text_cursor.h"

namespace weir::wire {
namespace {

using Item = std::optional<BareItem>;

constexpr BareItem other{};

constexpr bool is_printable(char c) noexcept {
  return c >= ' ' && c <= '~';
}

constexpr bool is_token_char(char c) noexcept {
  return is_alpha(c) || is_digit(c) || std::string_view{"!#$%&'*+-.^_`|~:/"}.find(c) != std::string_view::npos;
}

constexpr bool is_base64_char(char c) noexcept {
  return is_alpha(c) || is_digit(c) || c == '+' || c == '/';
}

Item take_number(std::string_view& rest) noexcept {
  const bool negative = take(rest, '-');
  const std::string_view whole = take_while(rest, is_digit);
  if (whole.empty() || whole.size() > 15) return {};
  if (take(rest, '.')) {
    const std::string_view fraction = take_while(rest, is_digit);
    if (whole.size() > 12 || fraction.empty() || fraction.size() > 3) return {};
    return other;
  }
  std::int64_t value = 0;
  for (const char digit : whole) value = value * 10 + (digit - '0');
  return BareItem{.type = BareItem::Type::integer, .integer = negative ? -value : value};
}

Item take_string(std::string_view& rest) noexcept {
  if (!take(rest, '"')) return {};
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (rest[i] == '"') {
      const BareItem item{.type = BareItem::Type::string, .text = rest.substr(0, i)};
      rest.remove_prefix(i + 1);
      return item;
    }
    if (rest[i] == '\\') {
      ++i;
      if (i == rest.size() || (rest[i] != '"' && rest[i] != '\\')) return {};
    } else if (!is_printable(rest[i])) {
      return {};
    }
  }
  return {};
}

Item take_token(std::string_view& rest) noexcept {
  take_while(rest, is_token_char);
  return other;
}

// Padding may be absent, but not wrong: many senders leave it out, none means anything by half of it.
Item take_byte_sequence(std::string_view& rest) noexcept {
  if (!take(rest, ':')) return {};
  const std::string_view start = rest;
  const std::size_t digits = take_while(rest, is_base64_char).size();
  const std::size_t padding = take_while(rest, [](char c) { return c == '='; }).size();
  if (!take(rest, ':') || digits % 4 == 1) return {};
  if (padding > 0 && (padding > 2 || (digits + padding) % 4 != 0)) return {};
  return BareItem{.type = BareItem::Type::byte_sequence, .text = start.substr(0, digits + padding)};
}

Item take_boolean(std::string_view& rest) noexcept {
  return take(rest, "?0") || take(rest, "?1") ? Item{other} : Item{};
}

Item take_date(std::string_view& rest) noexcept {
  if (!take(rest, '@')) return {};
  const Item seconds = take_number(rest);
  return seconds && seconds->type == BareItem::Type::integer ? Item{other} : Item{};
}

// Accepts octets one by one for as long as they are the start of valid UTF-8.
class Utf8 {
 public:
  [[nodiscard]] bool accept(unsigned octet) noexcept {
    if (missing_ == 0) return begin(octet);
    if (octet < lowest_ || octet > highest_) return false;
    lowest_ = 0x80;
    highest_ = 0xBF;
    --missing_;
    return true;
  }
  [[nodiscard]] bool complete() const noexcept { return missing_ == 0; }

 private:
  bool begin(unsigned octet) noexcept {
    if (octet < 0x80) return true;
    if (octet < 0xC2 || octet > 0xF4) return false;
    missing_ = octet < 0xE0 ? 1 : octet < 0xF0 ? 2 : 3;
    // No spelling that is longer than needed, no surrogates, nothing beyond U+10FFFF.
    if (octet == 0xE0) lowest_ = 0xA0;
    if (octet == 0xED) highest_ = 0x9F;
    if (octet == 0xF0) lowest_ = 0x90;
    if (octet == 0xF4) highest_ = 0x8F;
    return true;
  }

  int missing_ = 0;
  unsigned lowest_ = 0x80;  // of the next octet
  unsigned highest_ = 0xBF;
};

constexpr std::optional<unsigned> lower_hex(char c) noexcept {
  if (is_digit(c)) return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  return {};
}

// The octet that `%xx` stands for, the percent sign already taken.
std::optional<unsigned> take_hex_octet(std::string_view& rest) noexcept {
  if (rest.size() < 2) return {};
  const auto high = lower_hex(rest[0]);
  const auto low = lower_hex(rest[1]);
  if (!high || !low) return {};
  rest.remove_prefix(2);
  return *high * 16 + *low;
}

Item take_display_string(std::string_view& rest) noexcept {
  if (!take(rest, "%\"")) return {};
  Utf8 utf8;
  while (!rest.empty()) {
    const char c = rest.front();
    rest.remove_prefix(1);
    if (c == '"') return utf8.complete() ? Item{other} : Item{};
    if (!is_printable(c)) return {};
    const auto octet = c == '%' ? take_hex_octet(rest) : static_cast<unsigned>(c);
    if (!octet || !utf8.accept(*octet)) return {};
  }
  return {};
}

}  // namespace

std::optional<BareItem> take_bare_item(std::string_view& rest) noexcept {
  if (rest.empty()) return {};
  const char first = rest.front();
  if (first == '-' || is_digit(first)) return take_number(rest);
  if (first == '*' || is_alpha(first)) return take_token(rest);
  switch (first) {
    case '"':
      return take_string(rest);
    case ':':
      return take_byte_sequence(rest);
    case '?':
      return take_boolean(rest);
    case '@':
      return take_date(rest);
    case '%':
      return take_display_string(rest);
    default:
      return {};
  }
}

}  // namespace weir::wire
