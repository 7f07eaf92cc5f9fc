#include <algorithm>
#include <array>
#include <span>
#include <string>

#include <fmt/core.h>

#include "base/ascii.h"
#include "policy/read/policy_reader.h"
#include "policy/route_template.h"
#include "text/yaml/map_reader.h"
#include "text/yaml/problem.h"
#include "text/yaml/scalar.h"

namespace weir::policy {
namespace {

constexpr std::size_t max_parts = 8;
constexpr std::size_t max_alternatives = 8;
constexpr std::size_t max_ranges = 10'000;

// True for a word that looks like a header name and not like a keyword: `X-Tenant`, `Authorization`.
bool is_like_header(std::string_view text) {
  if (!text::parse_header_name(text)) return false;
  return text.find('-') != std::string_view::npos || (base::is_upper(text.front()));
}

Result<KeyPart> parse_part(std::string_view text, const Identity& identity) {
  std::vector<std::string> words{"user", "api_key", "ip", "global", "route", "header:NAME"};
  if (text.starts_with(header_prefix)) {
    const auto header = text::parse_header_name(text.substr(header_prefix.size()));
    if (!header) return failure(in_quotes(text), "invalid header name: write it like header:X-User-Id");
    return KeyPart{KeyPart::Kind::header, *header};
  }
  const auto found = std::ranges::find(words, text);
  if (found < words.end() - 1) return KeyPart{static_cast<KeyPart::Kind>(found - words.begin()), {}};
  if (identity.find(text) != nullptr) return KeyPart{KeyPart::Kind::identity, std::string(text)};
  for (const NamedIdentity& each : identity.named) words.push_back(each.name);
  std::string near = text::did_you_mean(text, words);
  if (near.empty() && is_like_header(text)) near = fmt::format(", did you mean 'header:{}'?", text);
  return failure(in_quotes(text),
                 near.empty()
                     ? "unknown; write user, api_key, ip, global, route or header:NAME, or define it in identity"
                     : "unknown" + near);
}

// Parses key parts that are combined with a plus sign: `a+b`.
Result<std::vector<KeyPart>> parse_together(std::string_view text, const Identity& identity) {
  std::vector<KeyPart> parts;
  for (std::string_view rest = text;;) {
    const std::size_t plus = rest.find('+');
    const auto part = parse_part(rest.substr(0, plus), identity);
    if (!part) return tl::unexpected<Error>(part.error());
    if (std::ranges::find(parts, *part) != parts.end()) {
      return failure(in_quotes(text), fmt::format("duplicate {}", text_of(*part)));
    }
    parts.push_back(*part);
    if (parts.size() > max_parts) return failure(in_quotes(text), fmt::format("too many parts: at most {}", max_parts));
    if (plus == std::string_view::npos) return parts;
    rest.remove_prefix(plus + 1);
  }
}

// True for parts that every request has: alternatives after them are never used.
bool always_present(const std::vector<KeyPart>& parts) {
  return std::ranges::all_of(parts, [](const KeyPart& part) {
    return part.kind == KeyPart::Kind::global || part.kind == KeyPart::Kind::route;
  });
}

// Returns an error message if `next` cannot follow the existing alternatives.
std::optional<std::string> wrong_next(const ConsumerKey& key, const std::vector<KeyPart>& next) {
  const auto& before = key.alternatives;
  if (before.size() == max_alternatives) return fmt::format("too many alternatives: at most {}", max_alternatives);
  if (std::ranges::find(before, next) != before.end()) {
    return fmt::format("duplicate {}", text_of(ConsumerKey{{next}}));
  }
  if (!before.empty() && always_present(before.back())) {
    return fmt::format("alternatives after {} are never used: every request has it",
                       text_of(ConsumerKey{{before.back()}}));
  }
  return {};
}

constexpr std::size_t max_methods = 100;
constexpr std::size_t common_methods = 9;

// The IANA registry, the common methods first.
const std::vector<std::string>& registered_methods() {
  // clang-format off
  static const std::vector<std::string> methods{
      "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY", "ACL", "BIND",
      "CHECKIN", "CHECKOUT", "COPY", "LABEL", "LINK", "LOCK", "MERGE", "MKACTIVITY", "MKCALENDAR", "MKCOL",
      "MKREDIRECTREF", "MKWORKSPACE", "MOVE", "ORDERPATCH", "PROPFIND", "PROPPATCH", "REBIND", "REPORT", "SEARCH",
      "UNBIND", "UNCHECKOUT", "UNLINK", "UNLOCK", "UPDATE", "UPDATEREDIRECTREF", "VERSION-CONTROL",
      "BASELINE-CONTROL"};
  // clang-format on
  return methods;
}

template <class Words>
bool is_among(std::string_view word, const Words& words) {
  return std::ranges::find(words, word) != words.end();
}

// A short word resembles many methods, so only the common ones are suggested for it.
std::string meant_method(const std::string& method) {
  constexpr std::size_t is_long = 6;
  const std::span<const std::string> all(registered_methods());
  const std::string near = text::did_you_mean(method, all.first(common_methods));
  return near.empty() && method.size() >= is_long ? text::did_you_mean(method, all) : near;
}

// Returns the remedy for a word that stands for several methods in other systems; empty for any other word.
std::string_view meant_several(std::string_view method) {
  constexpr std::array<std::string_view, 3> all{"*", "ANY", "ALL"};
  if (is_among(method, all)) return "omit the method to match all";
  return method.find('|') != std::string_view::npos ? "write one route for each method" : "";
}

std::optional<std::string> wrong_method(const RouteTemplate& route, MoreMethods more) {
  if (!route.method || is_among(*route.method, registered_methods())) return {};
  if (more != nullptr && is_among(*route.method, *more)) return {};
  if (const std::string_view several = meant_several(*route.method); !several.empty()) {
    return fmt::format("{} is not a method: {}", in_quotes(*route.method), several);
  }
  const std::string near = meant_method(*route.method);
  const std::string own = fmt::format("; to allow it, add 'methods: [{}]' at the root", *route.method);
  return fmt::format("unknown method {}{}", in_quotes(*route.method), near.empty() && more != nullptr ? own : near);
}

std::string_view path_of(std::string_view route) {
  const std::size_t space = route.find_first_of(" \t");
  if (route.starts_with('/') || space == std::string_view::npos) return route;
  route.remove_prefix(std::min(route.find_first_not_of(" \t", space), route.size()));
  return route;
}

// Looks for characters that paths lack and most regular expressions have. parse_route() rejects `{id:[0-9]+}`.
bool is_regular_expression(std::string_view path) {
  constexpr std::array<std::string_view, 14> signs{".*",  ".+",  "(?",  "[^",  "[0-9", "[a-z", "[A-Z",
                                                   "[\\", "\\d", "\\w", "\\.", "\\/",  "\\s",  "|"};
  const std::size_t brace = path.find('{');
  const bool named =
      brace != std::string_view::npos && brace + 1 < path.size() && base::to_lower(path[brace + 1]) >= 'a';
  if (named) return false;
  return path.starts_with('^') || path.starts_with('~') ||
         std::ranges::any_of(signs, [&](auto sign) { return path.find(sign) != std::string_view::npos; });
}

bool is_name_character(char c) noexcept {
  return base::is_letter_or_digit(c) || c == '_' || c == '-';
}

// The name in a segment like `:id`; empty if there is none.
std::string_view colon_name(std::string_view path) {
  const std::size_t at = path.find("/:");
  if (at == std::string_view::npos) return {};
  path.remove_prefix(at + 2);
  const auto* end = std::ranges::find_if_not(path, is_name_character);
  const std::string_view name = path.substr(0, static_cast<std::size_t>(end - path.begin()));
  return name.size() <= text::max_name_length ? name : std::string_view();
}

std::optional<std::string> wrong_kind_of_route(std::string_view path) {
  if (is_regular_expression(path)) {
    return "routes are templates, not regular expressions: write /api/** for everything below /api, {id} or * for one "
           "segment";
  }
  if (const std::string_view name = colon_name(path); !name.empty()) {
    return fmt::format("':{0}' is read as a literal: write {{{0}}} for a parameter, or %3A{0} for the literal", name);
  }
  return {};
}

}  // namespace

std::optional<Written<ConsumerKey>> read_consumer_key(const text::Node& node, const Identity& identity,
                                                      Problems& problems) {
  constexpr std::string_view field = "consumer_key";
  if (node.is_map()) {
    problems.error(node.at, "consumer_key must be a word or a list of words, not a map: write header:NAME");
    return {};
  }
  const std::vector<text::Node> alone{node.is_scalar() ? node : text::Node{}};
  const std::vector<text::Node>* words = node.is_scalar() ? &alone : text::items_of(node, field, problems);
  if (words == nullptr) return {};
  const std::size_t errors = problems.errors();
  ConsumerKey key;
  const auto parse = [&](std::string_view text) { return parse_together(text, identity); };
  for (const text::Node& word : *words) {
    auto parts = text::read_value(word, field, text::Form::text, parse, problems);
    if (!parts) continue;
    if (const auto wrong = wrong_next(key, parts->value)) {
      problems.error(word.at, "consumer_key: {}", *wrong);
      break;
    }
    key.alternatives.push_back(std::move(parts->value));
  }
  if (problems.errors() > errors) return {};
  return Written<ConsumerKey>{std::move(key), node.at};
}

std::optional<std::vector<AddressRange>> read_ranges(const text::Node& node, std::string_view field,
                                                     Problems& problems) {
  if (node.is_sequence() && node.items.empty()) return std::vector<AddressRange>{};
  const auto* items = text::items_of(node, field, problems);
  if (items == nullptr) return {};
  if (items->size() > max_ranges) {
    problems.error(node.at, "too many ranges in {}: {}, at most {}", field, items->size(), max_ranges);
    return {};
  }
  std::vector<AddressRange> ranges;
  bool good = true;
  const auto parse = [](std::string_view text) -> Result<AddressRange> {
    auto range = AddressRange::parse(text);
    if (!range) return failure(in_quotes(text), range.error().what);
    return range;
  };
  for (const text::Node& item : *items) {
    const auto range = text::read_value(item, field, text::Form::text, parse, problems);
    good = good && range;
    if (!range) continue;
    if (std::ranges::find(ranges, range->value) != ranges.end()) {
      problems.error(item.at, "{} {}: duplicate range", field, in_quotes(item.text));
      good = false;
    }
    ranges.push_back(range->value);
  }
  if (!good) return {};
  return ranges;
}

std::optional<Written<RouteTemplate>> read_route(std::string_view text, Mark at, MoreMethods more, Problems& problems) {
  const auto refuse = [&](std::string_view what) {
    problems.error(at, "route {}: {}", in_quotes(text), what);
    return std::nullopt;
  };
  if (const auto wrong = wrong_kind_of_route(path_of(text))) return refuse(*wrong);
  auto route = parse_route(text);
  if (!route) return refuse(route.error().what);
  if (const auto wrong = wrong_method(*route, more)) return refuse(*wrong);
  return Written<RouteTemplate>{*std::move(route), at};
}

std::vector<std::string> read_methods(const text::Node& node, Problems& problems) {
  std::vector<std::string> methods;
  const auto* items = text::items_of(node, "methods", problems);
  if (items == nullptr) return methods;
  if (items->size() > max_methods) {
    problems.error(node.at, "too many methods: {}, at most {}", items->size(), max_methods);
    return methods;
  }
  const auto parse = [](std::string_view text) -> Result<std::string> {
    // The route parser validates the method.
    const auto route = parse_route(std::string(text) + " /");
    if (!route || !route->method || !meant_several(*route->method).empty()) {
      return failure(in_quotes(text), "not a method: write it like PURGE");
    }
    return *route->method;
  };
  for (const text::Node& item : *items) {
    if (auto method = text::read_value(item, "methods", text::Form::text, parse, problems))
      methods.push_back(method->value);
  }
  return methods;
}

}  // namespace weir::policy
