#include "frontend/http/routes.h"

#include <algorithm>

namespace weir::frontend {

const Route* find_http_route(std::string_view target) noexcept {
  if (target.starts_with(auth_path)) {
    if (target.size() == auth_path.size() || target[auth_path.size()] == '?') return &http_routes[0];
    return target[auth_path.size()] == '/' ? &http_routes[1] : nullptr;
  }
  const auto* const found = std::ranges::find(http_routes, target.substr(0, target.find('?')), &Route::path);
  return found == http_routes.end() ? nullptr : found;
}

}  // namespace weir::frontend
