#include "policy/read/openapi/operations.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/core.h>

#include "base/ascii.h"
#include "policy/route_template.h"
#include "text/yaml/scalar.h"

namespace weir::policy::openapi {

namespace {

constexpr std::array<std::string_view, 8> methods{"get", "put", "post", "delete", "options", "head", "patch", "trace"};
constexpr std::array<std::string_view, 5> other_fields{"$ref", "summary", "description", "servers", "parameters"};

constexpr std::size_t max_fields = 256;  // maximum for one path item, since many paths may refer to it

bool is_method(std::string_view field) {
  return std::ranges::find(methods, field) != methods.end();
}

// An unknown field may be a misspelled method, whose limit would have no effect.
void check_field(const text::Member& member, Problems& problems) {
  const std::string& field = member.key.value;
  if (is_method(field) || field.starts_with("x-")) return;
  if (std::ranges::find(other_fields, field) != other_fields.end()) return;
  const std::string hint = is_method(base::lower(field)) ? fmt::format(", did you mean '{}'?", base::lower(field)) : "";
  problems.error(member.key.at, "unknown field {} in a path item{}", in_quotes(field), hint);
}

std::string route_segment(std::string_view segment, bool last) {
  const bool templated = segment.find_first_of("{}") != std::string_view::npos;
  if (!templated) {
    std::string literal;
    for (const char c : segment) literal += c == '*' ? "%2A" : c == ' ' ? "%20" : std::string(1, c);
    return literal;
  }
  const bool whole = segment.size() > 2 && segment.front() == '{' && segment.find('}') == segment.size() - 1 &&
                     segment.find('{', 1) == std::string_view::npos;
  if (whole && last && (segment.ends_with("+}") || segment.ends_with("*}"))) return "**";
  std::string name(segment);
  std::ranges::replace(name, ' ', '_');
  if (whole) return name;
  name.clear();
  for (const char c : segment) {
    if (c != '{' && c != '}') name += base::is_letter_or_digit(c) || c == '_' || c == '-' || c == '.' ? c : '_';
  }
  return "{" + (name.empty() ? "_" : name) + "}";
}

class PathReader {
 public:
  PathReader(const text::Node& root, References& references, Problems& problems)
      : references_(references), problems_(problems), root_bases_(read_servers(root.find("servers"))) {}

  std::optional<PathItem> read(const text::Member& member) {
    PathItem item{{member.key.value, member.key.at}, {}, {}};
    if (!take_parts(member.value, item)) return std::nullopt;
    const text::Node* servers = item.find("servers");
    const BasePaths bases = servers != nullptr ? read_servers(servers) : root_bases_;
    for (const std::string_view field : methods) {
      const text::Node* node = item.find(field);
      if (node == nullptr || node->is_null()) continue;
      if (!node->is_map()) {
        problems_.error(node->at, "{} must be a map, not {}", field, text::name_of(node->kind));
        continue;
      }
      add_operation(item, base::upper(field), *node, bases);
    }
    return item;
  }

 private:
  bool take_parts(const text::Node& value, PathItem& item) {
    if (value.is_null()) return true;
    auto parts = references_.chain(value);
    if (!parts) return false;
    for (const text::Node* part : *parts) {
      if (!part->is_map()) {
        problems_.error(part->at, "the path item of {} must be a map, not {}", in_quotes(item.path.value),
                        text::name_of(part->kind));
        return false;
      }
      if (part->members.size() > max_fields) {
        problems_.error(part->at, "too many fields in a path item: at most {}", max_fields);
        return false;
      }
      for (const text::Member& field : part->members) {
        check_field(field, problems_);
        if (field.key.value == "$ref" || item.find(field.key.value) == nullptr) continue;
        problems_.error(item.path.at, "duplicate {} of {}: it is both next to $ref and in its target",
                        in_quotes(field.key.value), in_quotes(item.path.value));
        return false;
      }
      item.parts.push_back(part);
    }
    return true;
  }

  BasePaths read_servers(const text::Node* servers) {
    return std::make_shared<const std::vector<std::string>>(base_paths(servers, problems_));
  }

  void add_operation(PathItem& item, std::string method, const text::Node& node, const BasePaths& inherited) {
    const text::Node* servers = node.find("servers");
    Operation operation{item.path.at, std::move(method), &node, {}, {}, {}, {}};
    operation.base_paths = servers != nullptr ? read_servers(servers) : inherited;
    if (const text::Node* id = node.find("operationId"); id != nullptr && !id->is_null()) {
      if (id->is_scalar()) {
        if (!id->text.empty()) operation.id = Written<std::string>{id->text, id->at};
      } else {
        problems_.error(id->at, "operationId must be text, not {}", text::name_of(id->kind));
      }
    }
    if (add_routes(item.path, operation)) item.operations.push_back(std::move(operation));
  }

  bool add_routes(const Written<std::string>& path, Operation& operation) {
    if (!path.value.starts_with('/')) {
      problems_.error(path.at, "path {} must begin with '/'", in_quotes(path.value));
      return false;
    }
    if (path.value.find_first_of("?#") != std::string::npos) {
      problems_.error(path.at, "path {} has a query or a fragment", in_quotes(path.value));
      return false;
    }
    auto route = parse(path, "", operation.method);
    if (!route) return false;
    operation.path_route = *std::move(route);
    for (const std::string& base : *operation.base_paths) {
      if (routes_ > max_routes) return false;
      if (++routes_ > max_routes) problems_.error(path.at, "too many routes: at most {}", max_routes);
      auto below = parse(path, base, operation.method);
      if (!below) return false;
      operation.routes.push_back(*std::move(below));
    }
    return true;
  }

  std::optional<RouteTemplate> parse(const Written<std::string>& path, const std::string& base,
                                     const std::string& method) {
    auto route = parse_route(method + " " + route_path(base) + route_path(path.value));
    if (route) return *std::move(route);
    problems_.error(path.at, route.error().message());
    return std::nullopt;
  }

  References& references_;
  Problems& problems_;
  BasePaths root_bases_;
  std::size_t routes_ = 0;
};

}  // namespace

const text::Node* PathItem::find(std::string_view field) const noexcept {
  for (const text::Node* part : parts) {
    if (const text::Node* value = part->find(field)) return value;
  }
  return nullptr;
}

std::vector<PathItem> read_paths(const text::Node& root, References& references, Problems& problems) {
  PathReader reader(root, references, problems);
  std::vector<PathItem> items;
  const text::Node* paths = root.find("paths");
  if (paths == nullptr || paths->is_null()) return items;
  if (!paths->is_map()) {
    problems.error(paths->at, "paths must be a map, not {}", text::name_of(paths->kind));
    return items;
  }
  for (const text::Member& member : paths->members) {
    if (member.key.value.starts_with("x-")) continue;
    if (auto item = reader.read(member)) items.push_back(std::move(*item));
  }
  return items;
}

std::string route_path(std::string_view path) {
  std::string route;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::size_t length = std::min(slash, path.size());
    const bool last = slash == std::string_view::npos || slash + 1 == path.size();
    route += route_segment(path.substr(0, length), last);
    path.remove_prefix(length);
    if (path.empty()) break;
    route += '/';
    path.remove_prefix(1);
  }
  return route;
}

}  // namespace weir::policy::openapi
