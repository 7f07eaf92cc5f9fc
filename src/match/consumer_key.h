// The encoding of consumer keys. Internal to consumer.cpp, consumer_text.cpp and descriptors.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "policy/vocabulary.h"
#include "text/address.h"
#include "text/append_written.h"

namespace weir::match {

// Texts are stored one after the other, each preceded by its length.

inline std::size_t sized(std::string_view text) noexcept {
  return sizeof(std::uint32_t) + text.size();
}

// `to` must have room for it. Returns the end.
inline char* put_sized(char* to, std::string_view text) noexcept {
  const auto length = static_cast<std::uint32_t>(text.size());
  std::memcpy(to, &length, sizeof length);
  if (!text.empty()) std::memcpy(to + sizeof length, text.data(), text.size());
  return to + sized(text);
}

inline void append_sized(std::string& to, std::string_view text) {
  text::append_written(to, sized(text), [&](char* at) { put_sized(at, text); });
}

// Removes and returns the first text of `from`, written by append_sized().
inline std::string_view take_sized(std::string_view& from) noexcept {
  std::uint32_t length = 0;
  std::memcpy(&length, from.data(), sizeof length);
  const std::string_view text = from.substr(sizeof length, length);
  from.remove_prefix(sizeof length + length);
  return text;
}

// Marks the key that requests without a key share. No KeyPart has this tag.
inline constexpr char shared_tag = '\x7f';
inline constexpr std::string_view shared_text = "all without a key";

inline constexpr std::string_view between_parts = " + ";

// The value and the text of `ip` for all requests with an invalid address. No address is that short.
inline constexpr std::string_view unreadable_address = "?";
inline constexpr std::string_view unreadable_text = "unreadable";

// Parts of these kinds have a name, which precedes the value.
[[nodiscard]] constexpr bool is_named(policy::KeyPart::Kind kind) noexcept {
  return kind == policy::KeyPart::Kind::header || kind == policy::KeyPart::Kind::identity;
}

// `kind` must not be named.
inline void append_value(std::string& key, policy::KeyPart::Kind kind, std::string_view value) {
  text::append_written(key, 1 + sized(value), [&](char* to) {
    *to = static_cast<char>(kind);
    put_sized(to + 1, value);
  });
}

inline void append_part(std::string& key, const policy::KeyPart& part, std::string_view value) {
  if (!is_named(part.kind)) return append_value(key, part.kind, value);
  key.push_back(static_cast<char>(part.kind));
  append_sized(key, part.name);
  append_sized(key, value);
}

// The number of leading bits of an address that distinguish consumers.
[[nodiscard]] inline unsigned consumer_prefix(const policy::Identity& identity,
                                              const policy::Address& address) noexcept {
  return address.family == policy::Address::Family::v6 ? identity.ipv6_prefix : address.bits();
}

inline void append_address(std::string& key, const policy::Identity& identity, const policy::Address& address) {
  const bool is_v6 = address.family == policy::Address::Family::v6;
  const unsigned prefix = consumer_prefix(identity, address);
  const std::uint32_t length =
      is_v6 ? 17 : 5;                 // the length of what follows: the prefix length and the bytes of the address
  char part[1 + sizeof length + 17];  // the bytes that append_value() would write
  part[0] = static_cast<char>(policy::KeyPart::Kind::ip);
  std::memcpy(part + 1, &length, sizeof length);
  char* const value = part + 1 + sizeof length;
  value[0] = static_cast<char>(prefix);
  if (prefix >= address.bits()) {
    std::memcpy(value + 1, address.bytes.data(), 16);
  } else {
    const policy::Address network = address.network(prefix);
    std::memcpy(value + 1, network.bytes.data(), 16);
  }
  key.append(part, 1 + sizeof length + length);
}

}  // namespace weir::match
