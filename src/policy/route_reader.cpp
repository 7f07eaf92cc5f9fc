#include "policy/route_reader.h"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/core.h>

#include "policy/map_reader.h"
#include "policy/scalar.h"
#include "policy/segment_text.h"
#include "policy/suggestion.h"

namespace weir::policy {
namespace {

constexpr std::size_t most_methods = 100;
constexpr std::size_t usual_methods = 9;

// Those that everybody uses first.
const std::array<std::string, 39>& registered_methods() {
  static const std::array<std::string, 39> methods{"GET",
                                                   "HEAD",
                                                   "POST",
                                                   "PUT",
                                                   "DELETE",
                                                   "CONNECT",
                                                   "OPTIONS",
                                                   "TRACE",
                                                   "PATCH",
                                                   "QUERY",
                                                   "ACL",
                                                   "BIND",
                                                   "CHECKIN",
                                                   "CHECKOUT",
                                                   "COPY",
                                                   "LABEL",
                                                   "LINK",
                                                   "LOCK",
                                                   "MERGE",
                                                   "MKACTIVITY",
                                                   "MKCALENDAR",
                                                   "MKCOL",
                                                   "MKREDIRECTREF",
                                                   "MKWORKSPACE",
                                                   "MOVE",
                                                   "ORDERPATCH",
                                                   "PROPFIND",
                                                   "PROPPATCH",
                                                   "REBIND",
                                                   "REPORT",
                                                   "SEARCH",
                                                   "UNBIND",
                                                   "UNCHECKOUT",
                                                   "UNLINK",
                                                   "UNLOCK",
                                                   "UPDATE",
                                                   "UPDATEREDIRECTREF",
                                                   "VERSION-CONTROL",
                                                   "BASELINE-CONTROL"};
  return methods;
}

template <class Words>
bool is_among(std::string_view word, const Words& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// In a short word everything is near to something: there only the usual ones are offered.
std::string meant_method(const std::string& method) {
  constexpr std::size_t is_long = 6;
  const std::span<const std::string> all(registered_methods());
  const std::string near = did_you_mean(method, all.first(usual_methods));
  return near.empty() && method.size() >= is_long ? did_you_mean(method, all) : near;
}

// What stands for several methods elsewhere; empty if it is none of that.
std::string_view meant_several(std::string_view method) {
  constexpr std::array<std::string_view, 3> all{"*", "ANY", "ALL"};
  if (is_among(method, all)) return "leave the method out, and all are meant";
  return method.find('|') != std::string_view::npos ? "write one route for each method" : "";
}

std::optional<std::string> wrong_method(const RouteTemplate& route, MoreMethods more) {
  if (!route.method || is_among(*route.method, registered_methods())) return {};
  if (more != nullptr && is_among(*route.method, *more)) return {};
  if (const std::string_view several = meant_several(*route.method); !several.empty()) {
    return fmt::format("{} is not a method: {}", quoted(*route.method), several);
  }
  const std::string near = meant_method(*route.method);
  const std::string own = fmt::format("; if it is one of yours, write 'methods: [{}]' at the root", *route.method);
  return fmt::format("unknown method {}{}", quoted(*route.method), near.empty() && more != nullptr ? own : near);
}

std::string_view path_of(std::string_view route) {
  const std::size_t space = route.find_first_of(" \t");
  if (route.starts_with('/') || space == std::string_view::npos) return route;
  route.remove_prefix(std::min(route.find_first_not_of(" \t", space), route.size()));
  return route;
}

// What no path has, and most regular expressions do. `{id:[0-9]+}` is told what is wrong with it elsewhere.
bool is_regular_expression(std::string_view path) {
  constexpr std::array<std::string_view, 14> signs{".*",  ".+",  "(?",  "[^",  "[0-9", "[a-z", "[A-Z",
                                                   "[\\", "\\d", "\\w", "\\.", "\\/",  "\\s",  "|"};
  const std::size_t brace = path.find('{');
  const bool named = brace != std::string_view::npos && brace + 1 < path.size() && to_lower(path[brace + 1]) >= 'a';
  if (named) return false;
  return path.starts_with('^') || path.starts_with('~') ||
         std::any_of(signs.begin(), signs.end(), [&](auto sign) { return path.find(sign) != std::string_view::npos; });
}

bool is_name_character(char c) noexcept {
  return (to_lower(c) >= 'a' && to_lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

// The name of a segment like `:id`; empty if there is none.
std::string_view colon_name(std::string_view path) {
  const std::size_t at = path.find("/:");
  if (at == std::string_view::npos) return {};
  path.remove_prefix(at + 2);
  const auto* end = std::find_if_not(path.begin(), path.end(), is_name_character);
  const std::string_view name = path.substr(0, static_cast<std::size_t>(end - path.begin()));
  return name.size() <= longest_name ? name : std::string_view();
}

std::optional<std::string> wrong_kind_of_route(std::string_view path) {
  if (is_regular_expression(path)) {
    return "this looks like a regular expression, and routes are templates: write /api/** for all below /api, {id} or "
           "* for one segment";
  }
  if (const std::string_view name = colon_name(path); !name.empty()) {
    return fmt::format(
        "':{0}' would match only these letters: write {{{0}}} for a parameter (or %3A{0}, if it is meant)", name);
  }
  return {};
}

}  // namespace

std::optional<Written<RouteTemplate>> read_route(std::string_view text, Mark at, MoreMethods more, Problems& problems) {
  const auto refuse = [&](std::string_view what) {
    problems.error(at, fmt::format("route {}: {}", quoted(text), what));
    return std::nullopt;
  };
  if (const auto wrong = wrong_kind_of_route(path_of(text))) return refuse(*wrong);
  auto route = parse_route(text);
  if (!route) return refuse(route.error().what);
  if (const auto wrong = wrong_method(*route, more)) return refuse(*wrong);
  return Written<RouteTemplate>{*std::move(route), at};
}

std::vector<std::string> read_methods(const yaml::Node& node, Problems& problems) {
  std::vector<std::string> methods;
  const auto* items = items_of(node, "methods", problems);
  if (items == nullptr) return methods;
  if (items->size() > most_methods) {
    problems.error(node.at, fmt::format("{} methods: at most {}", items->size(), most_methods));
    return methods;
  }
  const auto parse = [](std::string_view text) -> Result<std::string> {
    // As a route would have it.
    const auto route = parse_route(std::string(text) + " /");
    if (!route || !route->method || !meant_several(*route->method).empty()) {
      return failure(quoted(text), "not a method: write it like PURGE");
    }
    return *route->method;
  };
  for (const yaml::Node& item : *items) {
    if (auto method = read_value(item, "methods", Form::text, parse, problems)) methods.push_back(method->value);
  }
  return methods;
}

}  // namespace weir::policy
