#include "match/consumer.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "match/consumer_key.h"

namespace weir::match {
namespace {

using policy::KeyPart;

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
      value = sole_header(query, part.name);
      break;
    case Kind::identity:
      value = identity_of(identity, caller, query, part.name).text;
      break;
    case Kind::route:
      value = route;
      break;
    case Kind::global:
      append_part(key, part, {});
      return true;
    case Kind::ip:
      if (caller.address) {
        append_address(key, identity, *caller.address);
      } else if (caller.address_unreadable) {
        append_value(key, Kind::ip, unreadable_address);
      }
      return caller.address || caller.address_unreadable;
  }
  if (value.empty()) return false;
  append_part(key, part, value);
  return true;
}

std::string describe_address(std::string_view bytes) {
  if (bytes == unreadable_address) return std::string(unreadable_text);
  policy::Address address;
  address.family = bytes.size() == 17 ? policy::Address::Family::v6 : policy::Address::Family::v4;
  std::memcpy(address.bytes.data(), bytes.data() + 1, bytes.size() - 1);
  const unsigned prefix = static_cast<unsigned char>(bytes[0]);
  std::string text = address.text();
  if (prefix < address.bits()) text += "/" + std::to_string(prefix);
  return text;
}

void append_text(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  out += ':';
  out += std::to_string(value.size());
  out += ':';
  out += value;
}

}  // namespace

Presence append_consumer(const policy::CompiledLimit& limit, const policy::Identity& identity, const Caller& caller,
                         const Query& query, std::string_view route, std::string& keys) {
  const std::size_t begin = keys.size();
  const bool denies_unreadable = caller.address_unreadable && limit.missing == policy::Missing::deny;
  for (const auto& parts : limit.consumer_key.alternatives) {
    const bool all = std::ranges::all_of(parts, [&](const KeyPart& part) {
      return !(denies_unreadable && part.kind == KeyPart::Kind::ip) &&
             append(part, identity, caller, query, route, keys);
    });
    if (all) return Presence::present;
    keys.resize(begin);
  }
  if (limit.missing != policy::Missing::share) return Presence::absent;
  keys.push_back(shared_tag);
  return Presence::shared;
}

ConsumerPart take_part(std::string_view& key) {
  ConsumerPart part;
  part.name.kind = static_cast<KeyPart::Kind>(key.front());
  key.remove_prefix(1);
  if (is_named(part.name.kind)) part.name.name = take_sized(key);
  const std::string_view value = take_sized(key);
  part.text = part.name.kind == KeyPart::Kind::ip ? describe_address(value) : std::string(value);
  return part;
}

bool is_shared_consumer(std::string_view key) noexcept {
  return !key.empty() && key.front() == shared_tag;
}

std::string describe_consumer(std::string_view key) {
  if (is_shared_consumer(key)) return std::string(shared_text);
  std::string words;
  for_each_part(key, [&](const KeyPart& name, std::string_view text) {
    if (!words.empty()) words += between_parts;
    words += text_of(name);
    if (name.kind == KeyPart::Kind::global) return;
    words += "=";
    words += text;
  });
  return words;
}

void append_shared_consumer(std::string& out, std::string_view key) {
  if (is_shared_consumer(key)) {
    out += '*';
    return;
  }
  std::string_view between;
  for_each_part(key, [&](const KeyPart& name, std::string_view value) {
    out += between;
    between = "+";
    if (name.kind == KeyPart::Kind::global) {
      out += "global";
    } else {
      append_text(out, text_of(name), value);
    }
  });
}

void append_shared_descriptor(std::string& out, std::string_view key) {
  while (!key.empty()) {
    out += key.front();  // v: a value; p: a pattern that all matching values share
    key.remove_prefix(1);
    const std::string_view name = take_sized(key);
    append_text(out, "", name);
    append_text(out, "", take_sized(key));
  }
}

}  // namespace weir::match
