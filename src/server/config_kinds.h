// The kinds of values in weir.yaml. Each has a parser with bounds and messages, a comparison, and a JSON Schema.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/format.h>

#include "server/config_fields.h"
#include "server/config_values.h"

namespace weir::server::kinds {

using text::Form;
using text::Node;

inline constexpr std::size_t max_values = 100;  // maximum length of a list
inline constexpr std::string_view redis_example = "urls: [redis://127.0.0.1:6379/0]";

template <class T>
T* pointer_to(std::optional<T>& value) {
  return value ? &*value : nullptr;
}

// The part of the configuration of type T, or null if it is off.
template <class T>
T* part(const Parts& parts) {
  Config& config = parts.config;
  ListenerConfig* const listener = parts.listener == nullptr ? nullptr : pointer_to(parts.listener->config);
  RedisConfig* const redis = pointer_to(config.store.redis);
  if constexpr (std::is_same_v<T, Config>) return &config;
  if constexpr (std::is_same_v<T, Listener>) return parts.listener;
  if constexpr (std::is_same_v<T, ListenerConfig>) return listener;
  if constexpr (std::is_same_v<T, net::TlsFiles>) return listener == nullptr ? nullptr : pointer_to(listener->tls);
  if constexpr (std::is_same_v<T, StateConfig>) return &config.state;
  if constexpr (std::is_same_v<T, FieldsConfig>) return &config.fields;
  if constexpr (std::is_same_v<T, FieldChoice>) return &config.fields.choice;
  if constexpr (std::is_same_v<T, LogConfig>) return &config.log;
  if constexpr (std::is_same_v<T, DenialLogConfig>) return pointer_to(config.log.denials);
  if constexpr (std::is_same_v<T, StoreConfig>) return &config.store;
  if constexpr (std::is_same_v<T, ReceiptsConfig>) return &config.receipts;
  if constexpr (std::is_same_v<T, RedisConfig>) return redis;
  if constexpr (std::is_same_v<T, SentinelConfig>) return redis == nullptr ? nullptr : pointer_to(redis->sentinel);
  if constexpr (std::is_same_v<T, RedisTlsConfig>) return redis == nullptr ? nullptr : &redis->tls;
}

template <class T>
bool same_value(const T& a, const T& b) {
  return a == b;
}

inline bool same_value(const std::vector<net::Address>& a, const std::vector<net::Address>& b) {
  return std::ranges::equal(a, b, {}, &net::Address::text, &net::Address::text);
}

inline bool same_value(const std::optional<net::TlsFiles>& a, const std::optional<net::TlsFiles>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return a->certificate_chain == b->certificate_chain && a->key == b->key && a->client_ca == b->client_ca;
}

// A kind that can be compared and copied. The caller adds the parser.
template <class Owner, class T>
Kind kind_of(T Owner::* member, std::string schema = "") {
  Kind kind;
  kind.schema = std::move(schema);
  kind.same = [member](const Parts& a, const Parts& b) {
    const Owner* const one = part<Owner>(a);
    const Owner* const other = part<Owner>(b);
    return one == nullptr || other == nullptr || same_value(one->*member, other->*member);
  };
  kind.copy = [member](const Parts& from, const Parts& to) { part<Owner>(to)->*member = part<Owner>(from)->*member; };
  return kind;
}

// A single value, read by parse(text, reading).
template <class Owner, class T, class Parse>
Kind value(T Owner::* member, Form form, std::string schema, Parse parse) {
  Kind kind = kind_of(member, std::move(schema));
  kind.read = [=](const FieldContext& at) {
    auto written = at.map.value(at.name(), form, [&](std::string_view text) { return parse(text, at.reading); });
    if (written) part<Owner>(at.parts)->*member = std::move(written->value);
  };
  return kind;
}

// A single value, read by parse(text).
template <class Owner, class T, class Read>
Kind text(T Owner::* member, Result<Read> (*parse)(std::string_view), std::string schema) {
  return value(member, Form::text, std::move(schema),
               [=](std::string_view text, const Reading&) { return parse(text); });
}

inline std::string reference(std::string_view definition) {
  return fmt::format(R"("$ref": "#/$defs/{}")", definition);
}

// A file path, or the word `none`, which means no file.
template <class Owner, class T>
Kind path(T Owner::* member, std::string_view none = "") {
  const auto parse = [](std::string_view text, const Reading& reading) { return parse_path(text, reading.folder); };
  Kind kind = value(member, Form::text, reference("path"), parse);
  kind.read = [none, read = kind.read](const FieldContext& at) {
    const Node* node = at.find();
    const bool is_none = !none.empty() && node != nullptr && node->is_scalar() && node->text == none;
    if (!is_none) read(at);
  };
  return kind;
}

template <class Owner>
Kind size(std::size_t Owner::* member, SizeBounds bounds) {
  return value(member, Form::text, reference("size"),
               [=](std::string_view text, const Reading&) { return parse_size(text, bounds); });
}

template <class Owner, class T>
Kind time(T Owner::* member, TimeBounds bounds) {
  return value(member, Form::text, reference("time"),
               [=](std::string_view text, const Reading&) { return parse_time(text, bounds); });
}

template <class Owner, class T>
Kind whole(T Owner::* member, text::Bounds bounds) {
  return value(member, Form::number,
               fmt::format(R"("type": "integer", "minimum": {}, "maximum": {})", bounds.min, bounds.max),
               [=](std::string_view text, const Reading&) { return text::parse_whole(text, bounds); });
}

template <class Owner>
Kind truth(bool Owner::* member) {
  return value(member, Form::number, R"("type": "boolean")",
               [](std::string_view text, const Reading&) { return text::parse_truth(text); });
}

// A value of an enumeration. `names` are in its order.
template <class Owner, class Enum>
Kind choice(Enum Owner::* member, const std::vector<std::string>& names) {
  Kind kind = kind_of(member, fmt::format(R"("enum": ["{}"])", fmt::join(names, R"(", ")")));
  kind.read = [member, &names](const FieldContext& at) {
    const auto chosen = at.map.one_of(at.name(), names);
    if (chosen) part<Owner>(at.parts)->*member = static_cast<Enum>(chosen->value);
  };
  return kind;
}

// One value or a list. Calls take(node, text, context) for each.
template <class Owner, class T, class Take>
Kind one_or_more(std::vector<T> Owner::* member, std::string_view item, Take take) {
  constexpr auto schema =
      R"("oneOf": [{{ {0} }}, {{ "type": "array", "items": {{ {0} }}, "minItems": 1, "maxItems": {1} }}])";
  Kind kind = kind_of(member, fmt::format(schema, reference(item), max_values));
  kind.read = [=](const FieldContext& at) {
    const Node* node = at.find();
    if (node == nullptr) return;
    (part<Owner>(at.parts)->*member).clear();
    text::Problems& problems = at.reading.problems;
    const auto take_one = [&](const Node& one) {
      if (const auto* text = text::single_value(one, at.name(), Form::text, problems)) take(one, *text, at);
    };
    if (node->is_scalar()) {
      take_one(*node);
    } else if (node->is_map()) {
      problems.error(node->at, fmt::format("{} must be a single value or a list, not a map", at.name()));
    } else if (node->items.size() > max_values) {
      problems.error(
          node->at, fmt::format("{} has {} values; at most {} are allowed", at.name(), node->items.size(), max_values));
    } else if (const auto* items = text::items_of(*node, at.name(), problems)) {
      for (const Node& one : *items) take_one(one);
    }
  };
  return kind;
}

inline void take_address(const Node& node, std::string_view text, const FieldContext& at) {
  const auto address = parse_listen(text);
  if (!address) return text::report(address.error(), at.name(), node.at, at.reading.problems);
  at.reading.addresses.push_back({at.parts.listener->name, *address, node.at});
  at.parts.listener->config->listen.push_back(*address);
}

inline void take_host(const Node& node, std::string_view text, const FieldContext& at) {
  auto host = parse_host(text);
  if (!host) return text::report(host.error(), at.name(), node.at, at.reading.problems);
  at.parts.listener->config->hosts.push_back(*std::move(host));
}

inline void take_url(const Node& node, std::string_view text, const FieldContext& at) {
  auto url = store::redis::parse_url(text);
  if (!url) {
    const Error shown{text::in_quotes(url.error().where), url.error().what};
    return text::report(shown, at.name(), node.at, at.reading.problems);
  }
  RedisConfig& redis = *at.parts.config.store.redis;
  if (!redis.urls.empty()) check_url(*url, node.at, at.reading, redis);
  redis.urls.push_back(*std::move(url));
}

// Settings of envoyproxy/ratelimit domains: a map by name.
inline Kind domains() {
  Kind kind = kind_of(&Config::charge_all,
                      R"("type": "object", "additionalProperties": { "type": "object", "additionalProperties": false, )"
                      R"("properties": { "denied": { "enum": ["charge_nothing", "charge_all"] } } })");
  kind.read = [](const FieldContext& at) {
    const Node* node = at.find();
    if (node == nullptr) return;
    text::Problems& problems = at.reading.problems;
    if (!node->is_map()) {
      return problems.error(node->at, "domains must be a map, like shop: { denied: charge_all }");
    }
    for (const text::Member& member : node->members) {
      text::MapReader domain(member.value, member.key.value, problems);
      const auto denied = domain.one_of("denied", {"charge_nothing", "charge_all"});
      if (denied && denied->value == 1) at.parts.config.charge_all.push_back(member.key.value);
      domain.finish();
    }
  };
  return kind;
}

// The value must be quoted, because YAML parsers disagree on whether 0660 is octal.
inline Kind unix_mode() {
  Kind kind = text(&ListenerConfig::unix_mode, parse_mode, R"("type": "string", "pattern": "^0?[0-7]{3}$")");
  kind.read = [read = kind.read](const FieldContext& at) {
    const Node* node = at.find();
    if (node == nullptr || !node->is_scalar() || node->quoted) return read(at);
    at.reading.problems.error(
        node->at, fmt::format("unix_mode {}: write it in quotes, like \"0660\"", text::in_quotes(node->text)));
  };
  return kind;
}

inline Kind x_rate_limit() {
  Kind kind;
  kind.schema = R"("enum": ["delta", "epoch", "off", false])";
  kind.read = [](const FieldContext& at) {
    const auto form = at.map.one_of(at.name(), {"delta", "epoch", "off"});
    if (!form) return;
    at.parts.config.fields.choice.x_rate_limit = form->value < 2;
    at.parts.config.fields.choice.x_reset_as_epoch = form->value == 1;
  };
  return kind;
}

inline Kind version() {
  Kind kind;
  kind.schema = R"("const": 1)";
  kind.read = [](const FieldContext& at) {
    (void)at.map.value(at.name(), Form::number, [](std::string_view text) -> Result<bool> {
      if (text == "1") return true;
      return failure(text::in_quotes(text), "unknown version: write 1");
    });
  };
  return kind;
}

// A field that does not exist, with a hint for users who expect it to.
inline Kind rejected(std::string_view why) {
  Kind kind;
  kind.read = [why](const FieldContext& at) { at.map.refuse(at.name(), why); };
  return kind;
}

inline Kind section(Check* check = nullptr, std::string schema = "") {
  Kind kind;
  kind.is_section = true;
  kind.schema = std::move(schema);
  kind.read = [check](const FieldContext& at) {
    const Node* node = at.find();
    if (node == nullptr) return;
    read_section(*node, at.path, at.reading, at.parts);
    if (check != nullptr) check(*node, at.reading, at.parts);
  };
  return kind;
}

// A section that is compared as one value.
template <class Owner, class T>
Kind section_of(T Owner::* member, Check* check = nullptr, std::string schema = "") {
  Kind kind = section(check, std::move(schema));
  kind.same = kind_of(member).same;
  return kind;
}

// A section that is off unless it is present.
template <class Owner, class T>
Kind optional_section(std::optional<T> Owner::* member, Check* check = nullptr, std::string schema = "") {
  Kind kind = section_of(member, check, std::move(schema));
  kind.is_on = [member](const Parts& parts) { return (part<Owner>(parts)->*member).has_value(); };
  kind.read = [member, read = kind.read](const FieldContext& at) {
    if (at.find() != nullptr) (part<Owner>(at.parts)->*member).emplace();
    read(at);
  };
  return kind;
}

// A section that may be `off`. `on` is the initial value of a map if the section was off.
template <class Owner, class T>
Kind section_or_off(std::optional<T> Owner::* member, const T& on = {}, Check* check = nullptr) {
  Kind kind = section(check);
  kind.alternative = reference("off");
  kind.is_on = [member](const Parts& parts) { return (part<Owner>(parts)->*member).has_value(); };
  kind.same = [is_on = kind.is_on](const Parts& a, const Parts& b) { return is_on(a) == is_on(b); };
  kind.read = [member, on, read = kind.read](const FieldContext& at) {
    const Node* node = at.find();
    if (node == nullptr) return;
    std::optional<T>& target = part<Owner>(at.parts)->*member;
    if (node->is_map()) {
      if (!target) target = on;
      return read(at);
    }
    if (node->is_scalar() && node->text == "off") return target.reset();
    const std::string found = node->is_scalar() ? text::in_quotes(node->text) : std::string(name_of(node->kind));
    at.reading.problems.error(node->at, fmt::format("{} must be off or a map, not {}", at.name(), found));
  };
  return kind;
}

inline Kind listener() {
  Kind kind = section_or_off(&Listener::config, {}, check_listener);
  kind.read = [read = kind.read](const FieldContext& at) {
    const Node* node = at.find();
    const bool sets_address = node != nullptr && (!node->is_map() || node->find("listen") != nullptr);
    if (sets_address) at.parts.listener->origin = at.reading.problems.file();
    read(at);
  };
  return kind;
}

// The word `local`, or one of two sections.
inline Kind store() {
  Kind kind = section_of(&Config::store, check_store, R"("minProperties": 1, "maxProperties": 1)");
  kind.alternative = R"("const": "local")";
  kind.read = [read = kind.read](const FieldContext& at) {
    const Node* node = at.find();
    if (node == nullptr || !node->is_scalar()) return read(at);
    if (node->text == "local") return;
    const std::string found = text::in_quotes(node->text);
    at.reading.problems.error(node->at, fmt::format("store {}: write local, or redis: {{ {} }}", found, redis_example));
  };
  return kind;
}

inline Kind required(Kind kind, std::string_view example = "") {
  kind.required = example;
  return kind;
}

inline Kind restarts(Restart what, Kind kind) {
  kind.restart = what;
  return kind;
}

}  // namespace weir::server::kinds
