#include "frontend/admin/endpoint.h"

#include <array>
#include <string>
#include <utility>

#include "frontend/openapi.h"

namespace weir::frontend {
namespace {

constexpr std::array admin_route_table{
    AdminRoute{"/", Subject::page},
    AdminRoute{"/page/{file}", Subject::page},
    AdminRoute{openapi_path, Subject::document},
    AdminRoute{"/healthz", Subject::healthz},
    AdminRoute{"/readyz", Subject::readyz},
    AdminRoute{"/metrics", Subject::metrics},
    AdminRoute{"/v1/status", Subject::status},
    AdminRoute{"/v1/ruleset", Subject::ruleset},
    AdminRoute{"/v1/denied", Subject::denied},
    AdminRoute{"/v1/stream", Subject::stream},
    AdminRoute{"/v1/history", Subject::history},
    AdminRoute{"/v1/limits", Subject::limits},
    AdminRoute{"/v1/limits/{name}", Subject::limit},
    AdminRoute{"/v1/policy", Subject::policy},
    AdminRoute{"/v1/cluster", Subject::cluster},
    AdminRoute{"/v1/events", Subject::events},
    AdminRoute{"/v1/explain", Subject::explain},
    AdminRoute{"/v1/consumer", Subject::consumer},
    AdminRoute{"/v1/consumer/reset", Subject::reset_consumer},
    AdminRoute{"/v1/limits/{name}/consumers/{consumer}", Subject::inspect},
    AdminRoute{"/v1/limits/{name}/consumers/{consumer}/reset", Subject::reset},
    AdminRoute{"/v1/domains/{name}/descriptor", Subject::inspect_descriptor},
    AdminRoute{"/v1/domains/{name}/descriptor/reset", Subject::reset_descriptor},
    AdminRoute{"/v1/reload", Subject::reload},
};

// What the segments have in place of the braces of `route` goes into the endpoint, in its order.
std::optional<Endpoint> match_route(const AdminRoute& route, std::span<const std::string> segments) {
  Endpoint endpoint{route.subject};
  if (route.path == "/") endpoint.name = "index.html";
  std::string_view* next = &endpoint.name;
  std::string_view rest = route.path;
  for (const std::string& segment : segments) {
    if (rest.empty()) return {};
    rest.remove_prefix(1);
    const std::string_view written = rest.substr(0, rest.find('/'));
    rest.remove_prefix(written.size());
    if (written.starts_with('{')) {
      *std::exchange(next, &endpoint.consumer) = segment;
    } else if (written != segment) {
      return {};
    }
  }
  return rest.empty() ? std::optional(endpoint) : std::nullopt;
}

}  // namespace

std::span<const AdminRoute> admin_routes() noexcept {
  return admin_route_table;
}

std::optional<Endpoint> endpoint_of(const Target& target) {
  for (const AdminRoute& route : admin_route_table) {
    if (const auto endpoint = match_route(route, target.segments)) return endpoint;
  }
  return {};
}

Right right_of(Subject subject) noexcept {
  switch (subject) {
    case Subject::page:
    case Subject::document:
    case Subject::healthz:
    case Subject::readyz:
      return Right::none;
    case Subject::reset:
    case Subject::reset_consumer:
    case Subject::reset_descriptor:
    case Subject::reload:
      return Right::change;
    default:
      return Right::read;
  }
}

bool is_by_post(Subject subject) noexcept {
  return right_of(subject) == Right::change || subject == Subject::explain || subject == Subject::consumer;
}

}  // namespace weir::frontend
