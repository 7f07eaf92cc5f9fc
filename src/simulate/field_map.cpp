#include "simulate/field_map.h"

#include <algorithm>
#include <array>
#include <optional>

namespace weir::simulate {
namespace {

using Names = std::span<const std::string_view>;

constexpr std::array<std::string_view, 11> time_names{"time",       "timestamp",    "ts",         "@timestamp",
                                                      "msec",       "time_iso8601", "time_local", "StartUTC",
                                                      "start_time", "datetime",     "date"};
constexpr std::array<std::string_view, 12> ip_names{"remote_addr",
                                                    "ip",
                                                    "client_ip",
                                                    "clientip",
                                                    "remote_ip",
                                                    "request.client_ip",
                                                    "request.remote_ip",
                                                    "source.ip",
                                                    "ClientHost",
                                                    "downstream_remote_address",
                                                    "client",
                                                    "remote_host"};
constexpr std::array<std::string_view, 7> user_names{"user",    "remote_user", "user_id",       "username",
                                                     "user.id", "user.name",   "ClientUsername"};
constexpr std::array<std::string_view, 3> api_key_names{"api_key", "apikey", "api_key_id"};
constexpr std::array<std::string_view, 2> tier_names{"tier", "plan"};
constexpr std::array<std::string_view, 6> method_names{"method",         "request_method",      "http_method",
                                                       "request.method", "http.request.method", "RequestMethod"};
constexpr std::array<std::string_view, 9> target_names{
    "request_uri", "uri", "url", "path", "target", "request.uri", "url.original", "url.path", "RequestPath"};
constexpr std::array<std::string_view, 2> request_names{"request", "request_line"};
constexpr std::array<std::string_view, 5> status_names{"status", "status_code", "response_code",
                                                       "http.response.status_code", "DownstreamStatus"};

struct KnownField {
  std::string_view name;  // in assignments
  Names known;
};

constexpr std::array<KnownField, field_count> fields{{{"time", time_names},
                                                      {"ip", ip_names},
                                                      {"user", user_names},
                                                      {"api_key", api_key_names},
                                                      {"tier", tier_names},
                                                      {"method", method_names},
                                                      {"target", target_names},
                                                      {"request", request_names},
                                                      {"status", status_names}}};

constexpr std::string_view header_prefix = "header:";

std::optional<Field> field_named(std::string_view name) noexcept {
  if (name == "path") return Field::target;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == name) return static_cast<Field>(i);
  }
  return {};
}

bool is_path(std::string_view path) noexcept {
  if (path.empty() || path.size() > FieldMap::longest_name) return false;
  if (path.starts_with('.') || path.ends_with('.') || path.find("..") != std::string_view::npos) return false;
  return std::ranges::count(path, '.') < static_cast<std::ptrdiff_t>(FieldMap::deepest);
}

std::size_t length_of(const FieldMap::Node& node) noexcept {
  return node.name.size();
}

FieldMap::Node& child_of(FieldMap::Node& parent, std::string_view name) {
  const auto found = std::ranges::find(parent.children, name, &FieldMap::Node::name);
  if (found != parent.children.end()) return *found;
  const auto place = std::ranges::upper_bound(parent.children, name.size(), {}, length_of);
  return *parent.children.insert(place, FieldMap::Node{std::string(name), {}, {}});
}

}  // namespace

const FieldMap::Node* FieldMap::Node::child(std::string_view key) const noexcept {
  auto node = std::ranges::lower_bound(children, key.size(), {}, length_of);
  while (node != children.end() && node->name.size() == key.size()) {
    if (node->name == key) return &*node;
    ++node;
  }
  return nullptr;
}

FieldMap::FieldMap() {
  for (std::size_t i = 0; i < field_count; ++i) add_known(static_cast<Field>(i));
}

Result<FieldMap> FieldMap::with(std::span<const std::string> assignments) {
  FieldMap map{Nothing{}};
  std::array<bool, field_count> assigned{};
  for (const std::string& assignment : assignments) {
    const std::size_t equals = assignment.find('=');
    const std::string_view name = std::string_view(assignment).substr(0, equals);
    const std::string_view path =
        equals == std::string::npos ? std::string_view{} : std::string_view(assignment).substr(equals + 1);
    if (!is_path(path)) {
      return failure(assignment, "is not FIELD=PATH; write for example time=ts or user=request.headers.x-user");
    }
    if (name.starts_with(header_prefix)) {
      const std::string_view header = name.substr(header_prefix.size());
      if (header.empty() || header.size() > longest_name) return failure(assignment, "names no header");
      if (map.header_names_.size() == most_headers) {
        return failure(assignment, "is one header too many; at most " + std::to_string(most_headers) + " are read");
      }
      map.add(path, {map.slot_count(), 0});
      map.header_names_.emplace_back(header);
      continue;
    }
    const auto field = field_named(name);
    if (!field) {
      return failure(assignment,
                     "has no known field before the '='; there are time, ip, user, api_key, tier, method, "
                     "target, request, status and header:NAME");
    }
    const auto slot = static_cast<std::size_t>(*field);
    if (assigned[slot]) return failure(assignment, "assigns " + std::string(name) + " a second time");
    assigned[slot] = true;
    map.add(path, {slot, 0});
  }
  for (std::size_t i = 0; i < field_count; ++i) {
    if (!assigned[i]) map.add_known(static_cast<Field>(i));
  }
  return map;
}

void FieldMap::add_known(Field field) {
  const auto slot = static_cast<std::size_t>(field);
  for (std::size_t rank = 0; rank < fields[slot].known.size(); ++rank) add(fields[slot].known[rank], {slot, rank});
}

// A path with dots is known in both readings: nested, and as one name.
void FieldMap::add(std::string_view path, Place place) {
  child_of(root_, path).places.push_back(place);
  if (path.find('.') == std::string_view::npos) return;
  Node* node = &root_;
  while (true) {
    const std::size_t dot = path.find('.');
    node = &child_of(*node, path.substr(0, dot));
    if (dot == std::string_view::npos) break;
    path.remove_prefix(dot + 1);
  }
  node->places.push_back(place);
}

}  // namespace weir::simulate
