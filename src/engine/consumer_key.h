// The bytes of a consumer's key, and the words for it that people read and write. For consumer.cpp, which makes keys
// of callers, and consumer_text.cpp, which makes them of words.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

#include "engine/sized_text.h"
#include "policy/address.h"
#include "policy/vocabulary.h"

namespace weir::engine {

// The counter that requests without a key share. No KeyPart has this tag.
inline constexpr char shared_tag = '\x7f';
inline constexpr std::string_view shared_text = "all without a key";

inline constexpr std::string_view between_parts = " + ";

inline void append_part(std::string& key, const policy::KeyPart& part, std::string_view value) {
  key.push_back(static_cast<char>(part.kind));
  if (part.kind == policy::KeyPart::Kind::header) append_sized(key, part.header);
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
  const policy::Address network = address.network(prefix);
  char bytes[17];
  bytes[0] = static_cast<char>(prefix);
  std::memcpy(bytes + 1, network.bytes.data(), 16);
  append_part(key, {policy::KeyPart::Kind::ip, {}}, {bytes, is_v6 ? std::size_t{17} : std::size_t{5}});
}

}  // namespace weir::engine
