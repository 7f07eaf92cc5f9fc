#include "match/consumer.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/ascii.h"
#include "match/consumer_key.h"

namespace weir::match {
namespace {

using policy::KeyPart;

bool take(std::string_view& text, std::string_view word) noexcept {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

// `name` is that of a header or an identity, in lower case, as in the policy.
bool take_lower(std::string_view& text, std::string_view name) noexcept {
  if (!base::equals_lower(text.substr(0, name.size()), name)) return false;
  text.remove_prefix(name.size());
  return true;
}

// Removes the name of this part from the front: `user=`, `header:X-Login-Name=`, `global`.
bool take_name(std::string_view& text, const KeyPart& part) noexcept {
  return take(text, name_of(part.kind)) && take_lower(text, part.name) &&
         (part.kind == KeyPart::Kind::global || take(text, "="));
}

// Removes the name of any part and its `=`. A header's name contains neither `=` nor a space.
std::optional<KeyPart> take_any_name(std::string_view& text, const policy::Identity& identity) {
  using Kind = KeyPart::Kind;
  for (const policy::NamedIdentity& named : identity.named) {
    KeyPart part{.kind = Kind::identity, .name = named.name};
    if (take_name(text, part)) return part;
  }
  for (const Kind kind : {Kind::user, Kind::api_key, Kind::ip, Kind::global, Kind::route}) {
    std::string_view rest = text;
    if (!take_name(rest, {.kind = kind, .name = {}})) continue;
    if (kind == Kind::global && !rest.empty() && !rest.starts_with(between_parts)) continue;
    text = rest;
    return KeyPart{.kind = kind, .name = {}};
  }
  std::string_view rest = text;
  if (!take(rest, name_of(Kind::header))) return {};
  const std::size_t end = rest.find_first_of("= ");
  if (end == 0 || end == std::string_view::npos || rest[end] != '=') return {};
  KeyPart part{.kind = Kind::header, .name = base::lower(rest.substr(0, end))};
  text = rest.substr(end + 1);
  return part;
}

// Removes and returns the text before ` + ` and the name of the next part. These may occur only once, because otherwise
// the text would be ambiguous.
std::optional<std::string_view> take_until(std::string_view& text, const KeyPart& next) noexcept {
  std::optional<std::string_view> value;
  std::string_view after;
  for (std::size_t at = text.find(between_parts); at != std::string_view::npos; at = text.find(between_parts, at + 1)) {
    std::string_view rest = text.substr(at + between_parts.size());
    const std::string_view from_name = rest;
    if (!take_name(rest, next)) continue;
    if (value) return std::nullopt;
    value = text.substr(0, at);
    after = from_name;
  }
  if (value) text = after;
  return value;
}

bool append_address_text(std::string& key, const policy::Identity& identity, std::string_view text) {
  if (text == unreadable_text) {
    match::append_value(key, KeyPart::Kind::ip, unreadable_address);
    return true;
  }
  if (text.find('/') == std::string_view::npos) {
    const auto address = policy::Address::parse_endpoint(text);
    if (address) append_address(key, identity, *address);
    return address.has_value();
  }
  const auto range = policy::AddressRange::parse(text);
  if (!range || range->prefix < consumer_prefix(identity, range->network)) return false;
  append_address(key, identity, range->network);
  return true;
}

bool append_value(std::string& key, const policy::Identity& identity, const KeyPart& part, std::string_view value) {
  if (part.kind == KeyPart::Kind::ip) return append_address_text(key, identity, value);
  if (value.empty() != (part.kind == KeyPart::Kind::global)) return false;
  append_part(key, part, value);
  return true;
}

std::optional<ReadConsumer> read_parts(const std::vector<KeyPart>& parts, const policy::Identity& identity,
                                       std::string_view text, std::string& key) {
  key.clear();
  ReadConsumer read;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!take_name(text, parts[i])) return std::nullopt;
    const bool is_last = i + 1 == parts.size();
    const std::optional<std::string_view> value = is_last ? text : take_until(text, parts[i + 1]);
    if (!value || !append_value(key, identity, parts[i], *value)) return std::nullopt;
    if (parts[i].kind == KeyPart::Kind::route) read.route = *value;
  }
  return read;
}

std::optional<ReadConsumer> read_value(const std::vector<KeyPart>& parts, const policy::Identity& identity,
                                       std::string_view text, std::string& key) {
  key.clear();
  const bool is_word = parts[0].kind == KeyPart::Kind::ip && text == unreadable_text;  // valid only after `ip=`
  if (is_word || !append_value(key, identity, parts[0], text)) return std::nullopt;
  return ReadConsumer{.is_shared = false, .route = parts[0].kind == KeyPart::Kind::route ? text : std::string_view{}};
}

// Reads a text with the names of its parts.
std::optional<ReadConsumer> read_in_full(const policy::CompiledLimit& limit, const policy::Identity& identity,
                                         std::string_view text, std::string& key) {
  const auto& alternatives = limit.consumer_key.alternatives;
  std::size_t max_parts = 0;
  for (const auto& parts : alternatives) max_parts = std::max(max_parts, parts.size());
  for (std::size_t count = max_parts; count > 0; --count) {
    for (const auto& parts : alternatives) {
      if (parts.size() != count) continue;
      if (const auto read = read_parts(parts, identity, text, key)) return read;
    }
  }
  if (text != shared_text || limit.missing != policy::Missing::share) return std::nullopt;
  key.assign(1, shared_tag);
  return ReadConsumer{.is_shared = true, .route = {}};
}

}  // namespace

bool names_bad_address(const policy::CompiledLimit& limit, const policy::Identity& identity, std::string_view text) {
  return std::ranges::any_of(limit.consumer_key.alternatives, [&](const std::vector<KeyPart>& parts) {
    std::string_view rest = text;
    std::string unused;
    return parts.size() == 1 && parts[0].kind == KeyPart::Kind::ip && take_name(rest, parts[0]) &&
           !append_address_text(unused, identity, rest);
  });
}

std::optional<ReadConsumer> read_consumer(const policy::CompiledLimit& limit, const policy::Identity& identity,
                                          std::string_view text, std::string& key) {
  if (const auto read = read_in_full(limit, identity, text, key)) return read;
  if (names_bad_address(limit, identity, text)) return std::nullopt;
  for (const auto& parts : limit.consumer_key.alternatives) {
    if (parts.size() != 1) continue;
    if (const auto read = read_value(parts, identity, text, key)) return read;
  }
  return std::nullopt;
}

std::vector<std::string> meanings_of(const policy::CompiledLimit& limit, const policy::Identity& identity,
                                     std::string_view text) {
  std::string key;
  if (read_in_full(limit, identity, text, key)) return {std::string(text)};
  std::vector<std::string> meanings;
  for (const auto& parts : limit.consumer_key.alternatives) {
    std::string_view rest = text;
    if (take_name(rest, parts[0]) && parts[0].kind != KeyPart::Kind::global) return {};
    if (parts.size() != 1 || !read_value(parts, identity, text, key)) continue;
    meanings.push_back(text_of(parts[0]) + "=" + std::string(text));
  }
  return meanings;
}

std::vector<GivenPart> given_parts(const policy::Identity& identity, std::string_view text) {
  std::vector<GivenPart> given;
  std::size_t value_begin = 0;
  for (std::size_t at = 0; at != std::string_view::npos;) {
    std::string_view rest = text.substr(at);
    auto name = take_any_name(rest, identity);
    const bool is_new = name && std::ranges::find(given, *name, &GivenPart::name) == given.end();
    if (given.empty() && !is_new) return given;
    if (is_new) {
      if (!given.empty()) given.back().value = text.substr(value_begin, at - between_parts.size() - value_begin);
      value_begin = text.size() - rest.size();
      given.push_back({std::move(*name), rest});
    }
    at = text.find(between_parts, at);
    if (at != std::string_view::npos) at += between_parts.size();
  }
  return given;
}

std::string consumer_by(const policy::CompiledLimit& limit, const std::vector<GivenPart>& given) {
  for (const auto& parts : limit.consumer_key.alternatives) {
    std::string text;
    for (const KeyPart& part : parts) {
      const auto found = std::ranges::find(given, part, &GivenPart::name);
      if (found == given.end()) {
        text.clear();
        break;
      }
      if (!text.empty()) text += between_parts;
      text += text_of(part);
      if (part.kind != KeyPart::Kind::global) text.append("=").append(found->value);
    }
    if (!text.empty()) return text;
  }
  return {};
}

std::string consumer_form(const policy::CompiledLimit& limit) {
  std::string form;
  for (const auto& parts : limit.consumer_key.alternatives) {
    if (!form.empty()) form += " or ";
    for (const KeyPart& part : parts) {
      if (&part != &parts.front()) form += between_parts;
      form += text_of(part);
      if (part.kind != KeyPart::Kind::global) form += "=...";
    }
  }
  return form;
}

}  // namespace weir::match
