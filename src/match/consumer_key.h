// The bytes of a consumer's key, and the words for it that people read and write. For consumer.cpp, which makes keys
// of callers, consumer_text.cpp, which makes them of words, and descriptors.cpp.
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

// Texts one after the other, each with its length in front, so that none can reach into the next.

// How many bytes that takes.
inline std::size_t sized(std::string_view text) noexcept {
  return sizeof(std::uint32_t) + text.size();
}

// Where there is room for it. Gives where it ended.
inline char* put_sized(char* to, std::string_view text) noexcept {
  const auto length = static_cast<std::uint32_t>(text.size());
  std::memcpy(to, &length, sizeof length);
  if (!text.empty()) std::memcpy(to + sizeof length, text.data(), text.size());
  return to + sized(text);
}

inline void append_sized(std::string& to, std::string_view text) {
  text::append_written(to, sized(text), [&](char* at) { put_sized(at, text); });
}

// Takes the first text off `from`, which append_sized wrote.
inline std::string_view take_sized(std::string_view& from) noexcept {
  std::uint32_t length = 0;
  std::memcpy(&length, from.data(), sizeof length);
  const std::string_view text = from.substr(sizeof length, length);
  from.remove_prefix(sizeof length + length);
  return text;
}

// The counter that requests without a key share. No KeyPart has this tag.
inline constexpr char shared_tag = '\x7f';
inline constexpr std::string_view shared_text = "all without a key";

inline constexpr std::string_view between_parts = " + ";

// The value of `ip` of all requests whose address cannot be read, and the word for it. No address is that short.
inline constexpr std::string_view unreadable_address = "?";
inline constexpr std::string_view unreadable_text = "unreadable";

// Of any kind but a header.
inline void append_value(std::string& key, policy::KeyPart::Kind kind, std::string_view value) {
  text::append_written(key, 1 + sized(value), [&](char* to) {
    *to = static_cast<char>(kind);
    put_sized(to + 1, value);
  });
}

inline void append_part(std::string& key, const policy::KeyPart& part, std::string_view value) {
  if (part.kind != policy::KeyPart::Kind::header) return append_value(key, part.kind, value);
  key.push_back(static_cast<char>(part.kind));
  append_sized(key, part.header);
  append_sized(key, value);
}

// How many leading bits of an address tell consumers apart.
[[nodiscard]] inline unsigned consumer_prefix(const policy::Identity& identity,
                                              const policy::Address& address) noexcept {
  return address.family == policy::Address::Family::v6 ? identity.ipv6_prefix : address.bits();
}

inline void append_address(std::string& key, const policy::Identity& identity, const policy::Address& address) {
  const bool is_v6 = address.family == policy::Address::Family::v6;
  const unsigned prefix = consumer_prefix(identity, address);
  const std::uint32_t length = is_v6 ? 17 : 5;  // of what follows it: the prefix, and the bytes of the address
  char part[1 + sizeof length + 17];            // as append_value would write it
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
