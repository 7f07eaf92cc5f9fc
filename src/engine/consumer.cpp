#include "engine/consumer.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "engine/sized_text.h"

namespace weir::engine {
namespace {

using policy::KeyPart;

// The tag of the counter that requests without a key share; no KeyPart has it.
constexpr char shared_tag = '\x7f';

void append_part(std::string& key, KeyPart::Kind kind, std::string_view name, std::string_view value) {
  key.push_back(static_cast<char>(kind));
  if (kind == KeyPart::Kind::header) append_sized(key, name);
  append_sized(key, value);
}

bool append(const KeyPart& part, const policy::Identity& identity, const Caller& caller, const Query& query,
            std::string_view route, std::string& key) {
  using Kind = KeyPart::Kind;
  std::string_view value;
  switch (part.kind) {
    case Kind::user:
      value = caller.user;
      break;
    case Kind::api_key:
      value = caller.api_key;
      break;
    case Kind::header:
      value = sole_header(query, part.header);
      break;
    case Kind::route:
      value = route;
      break;
    case Kind::global:
      append_part(key, part.kind, {}, {});
      return true;
    case Kind::ip: {
      if (!caller.address) return false;
      const bool is_v6 = caller.address->family == policy::Address::Family::v6;
      const policy::Address network = is_v6 ? caller.address->network(identity.ipv6_prefix) : *caller.address;
      char bytes[17];
      bytes[0] = static_cast<char>(is_v6 ? identity.ipv6_prefix : 32);
      std::memcpy(bytes + 1, network.bytes.data(), 16);
      append_part(key, part.kind, {}, {bytes, is_v6 ? std::size_t{17} : std::size_t{5}});
      return true;
    }
  }
  if (value.empty()) return false;
  append_part(key, part.kind, part.header, value);
  return true;
}

std::string describe_address(std::string_view bytes) {
  policy::Address address;
  address.family = bytes.size() == 17 ? policy::Address::Family::v6 : policy::Address::Family::v4;
  std::memcpy(address.bytes.data(), bytes.data() + 1, bytes.size() - 1);
  const unsigned prefix = static_cast<unsigned char>(bytes[0]);
  std::string text = address.text();
  if (prefix < address.bits()) text += "/" + std::to_string(prefix);
  return text;
}

}  // namespace

Presence write_consumer(const policy::CompiledLimit& limit, const policy::Identity& identity, const Caller& caller,
                        const Query& query, std::string_view route, std::string& key) {
  for (const auto& parts : limit.consumer_key.alternatives) {
    key.clear();
    const bool all = std::ranges::all_of(
        parts, [&](const KeyPart& part) { return append(part, identity, caller, query, route, key); });
    if (all) return Presence::present;
  }
  key.clear();
  if (limit.missing != policy::Missing::share) return Presence::absent;
  key.push_back(shared_tag);
  return Presence::shared;
}

std::string describe_consumer(std::string_view key) {
  std::string words;
  while (!key.empty()) {
    const char tag = key.front();
    key.remove_prefix(1);
    if (tag == shared_tag) return "all without a key";
    if (!words.empty()) words += " + ";
    KeyPart part{static_cast<KeyPart::Kind>(tag), {}};
    if (part.kind == KeyPart::Kind::header) part.header = take_sized(key);
    const std::string_view value = take_sized(key);
    words += text_of(part);
    if (part.kind == KeyPart::Kind::global) continue;
    words += "=";
    words += part.kind == KeyPart::Kind::ip ? describe_address(value) : std::string(value);
  }
  return words;
}

}  // namespace weir::engine
