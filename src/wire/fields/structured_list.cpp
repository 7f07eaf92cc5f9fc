#include "wire/fields/structured_list.h"

#include <array>

#include "base/ascii.h"
#include "base/hex.h"
#include "text/utf8.h"
#include "wire/take.h"

namespace weir::wire {
namespace {

using Item = std::optional<BareItem>;

constexpr BareItem other_item{};

constexpr bool is_token_char(char c) noexcept {
  return base::is_token_character(c) || c == ':' || c == '/';
}

constexpr bool is_base64_char(char c) noexcept {
  return base::is_letter_or_digit(c) || c == '+' || c == '/';
}

void take_spaces(std::string_view& rest) noexcept {
  take_while(rest, [](char c) { return c == ' '; });
}

Item take_number(std::string_view& rest) noexcept {
  const bool negative = take(rest, '-');
  const std::string_view whole = take_while(rest, base::is_digit);
  if (whole.empty() || whole.size() > 15) return {};
  if (take(rest, '.')) {
    const std::string_view fraction = take_while(rest, base::is_digit);
    if (whole.size() > 12 || fraction.empty() || fraction.size() > 3) return {};
    return other_item;
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
    } else if (!base::is_printable(rest[i])) {
      return {};
    }
  }
  return {};
}

Item take_token(std::string_view& rest) noexcept {
  take_while(rest, is_token_char);
  return other_item;
}

// Padding may be absent, because many senders omit it, but if present it must be correct.
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
  return take(rest, "?0") || take(rest, "?1") ? Item{other_item} : Item{};
}

Item take_date(std::string_view& rest) noexcept {
  if (!take(rest, '@')) return {};
  const Item seconds = take_number(rest);
  return seconds && seconds->type == BareItem::Type::integer ? Item{other_item} : Item{};
}

// The octet of a lower-case `%xx` whose percent sign is already taken.
std::optional<unsigned> take_hex_octet(std::string_view& rest) noexcept {
  if (rest.size() < 2) return {};
  if (!base::is_lower_hex_digit(rest[0]) || !base::is_lower_hex_digit(rest[1])) return {};
  const int octet = base::hex_byte(rest[0], rest[1]);
  rest.remove_prefix(2);
  return static_cast<unsigned>(octet);
}

Item take_display_string(std::string_view& rest) noexcept {
  if (!take(rest, "%\"")) return {};
  std::array<char, 4> character{};  // the UTF-8 sequence so far
  std::size_t size = 0;
  while (!rest.empty()) {
    const char c = rest.front();
    rest.remove_prefix(1);
    if (c == '"') return size == 0 ? Item{other_item} : Item{};
    if (!base::is_printable(c)) return {};
    const auto octet = c == '%' ? take_hex_octet(rest) : static_cast<unsigned>(c);
    if (!octet) return {};
    character[size++] = static_cast<char>(*octet);
    const auto lead = static_cast<std::uint8_t>(character[0]);
    if (size < (lead < 0x80 ? 1U : lead < 0xE0 ? 2U : lead < 0xF0 ? 3U : 4U)) continue;
    if (text::utf8_length({character.data(), size}) == 0) return {};
    size = 0;
  }
  return {};
}

// Takes one value from the front of `rest`. Empty if it is malformed; `rest` is then unspecified.
Item take_bare_item(std::string_view& rest) noexcept {
  if (rest.empty()) return {};
  const char first = rest.front();
  if (first == '-' || base::is_digit(first)) return take_number(rest);
  if (first == '*' || base::is_letter(first)) return take_token(rest);
  if (first == '"') return take_string(rest);
  if (first == ':') return take_byte_sequence(rest);
  if (first == '?') return take_boolean(rest);
  if (first == '@') return take_date(rest);
  if (first == '%') return take_display_string(rest);
  return {};
}

constexpr bool begins_key(char c) noexcept {
  return base::is_lower(c) || c == '*';
}

constexpr bool is_key_char(char c) noexcept {
  return begins_key(c) || base::is_digit(c) || c == '_' || c == '-' || c == '.';
}

}  // namespace

ListReader::ListReader(std::string_view field) noexcept : rest_(field) {
  if (field.size() > max_length) refuse();
  take_spaces(rest_);
}

std::optional<BareItem> ListReader::next_member() noexcept {
  while (next_parameter()) {
    // Skipped parameters must be well-formed too.
  }
  if (!step_to_member()) return {};
  auto item = take_bare_item(rest_);
  if (!item || ++members_ > max_members) {
    refuse();
    return {};
  }
  return item;
}

std::optional<ListReader::Parameter> ListReader::next_parameter() noexcept {
  if (members_ == 0 || !take(rest_, ';')) return {};
  take_spaces(rest_);
  Parameter parameter;
  if (!rest_.empty() && begins_key(rest_.front())) parameter.key = take_while(rest_, is_key_char);
  if (parameter.key.empty()) {
    refuse();
    return {};
  }
  if (take(rest_, '=')) {
    const auto value = take_bare_item(rest_);
    if (!value) {
      refuse();
      return {};
    }
    parameter.value = *value;
  }
  return parameter;
}

// Skips the comma before the next member. Returns false at the end of the list.
bool ListReader::step_to_member() noexcept {
  if (members_ == 0) return !rest_.empty();
  take_while(rest_, base::is_blank);
  if (rest_.empty()) return false;
  if (!take(rest_, ',')) refuse();
  take_while(rest_, base::is_blank);
  return well_formed_;
}

void ListReader::refuse() noexcept {
  well_formed_ = false;
  rest_ = {};
}

}  // namespace weir::wire
