// Finds the route of a request to an HTTP listener and rejects requests without a route. The http and the admin
// listener have one table of routes each. Tests compare the tables with docs/openapi.yaml.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/access.h"
#include "frontend/http_session.h"
#include "weir/result.h"
#include "wire/http1/request.h"

namespace weir::frontend {

// A row of a table. Listeners derive from it and add the handler.
struct Route {
  enum class Methods : std::uint8_t { get, post, any, put, remove };  // `get` includes HEAD
  enum class Right : std::uint8_t {
    none,
    read,
    inspect,  // as `read`, but always with a token, because the answer names consumers
    change
  };  // the permission required; each listener decides how to verify it
  enum class Span : std::uint8_t { whole, prefix };  // `prefix`: the last `{name}` matches all remaining segments

  std::string_view path;  // as in docs/openapi.yaml; `{name}` is one segment
  Methods methods = Methods::get;
  Right right = Right::read;
  Span span = Span::whole;

  bool has_names = path.find('{') != std::string_view::npos;

  // `sent` is percent-encoded.
  [[nodiscard]] bool matches(std::string_view sent) const noexcept {
    return has_names ? matches_segments(sent) : sent == path;
  }
  [[nodiscard]] bool takes(std::string_view method) const noexcept {
    return methods == Methods::any || method == method_name() || (methods == Methods::get && method == "HEAD");
  }
  // `GET` for a route that takes any method.
  [[nodiscard]] std::string_view method_name() const noexcept {
    switch (methods) {
      case Methods::post:
        return "POST";
      case Methods::put:
        return "PUT";
      case Methods::remove:
        return "DELETE";
      case Methods::get:
      case Methods::any:
        break;
    }
    return "GET";
  }

 private:
  [[nodiscard]] bool matches_segments(std::string_view sent) const noexcept;
};

[[nodiscard]] std::string_view path_in_absolute_form(std::string_view target) noexcept;

// Removes scheme and host: http://host/path?a=1 becomes /path?a=1.
[[nodiscard]] inline std::string_view without_authority(std::string_view target) noexcept {
  return target.starts_with('/') ? target : path_in_absolute_form(target);
}

// Returns null if no route matches. `target` has no authority.
template <class Row>
[[nodiscard]] const Row* find_route(std::span<const Row> rows, std::string_view target) noexcept {
  std::string_view path = target.substr(0, target.find('?'));
  if (path.empty()) path = "/";
  const auto found = std::ranges::find_if(rows, [&](const Route& route) { return route.matches(path); });
  return found == rows.end() ? nullptr : &*found;
}

// The table of one listener, with its error texts.
template <class Row>
struct HttpRouter {
  std::span<const Row> rows;
  std::string_view wrong_host;
  std::string_view unknown_path;

  // Returns the row for the request, or null with the error response in `refusal`.
  [[nodiscard]] const Row* find(const wire::http1::Request& request, const HostNames& hosts,
                                std::unique_ptr<HttpAnswer>& refusal) const;
};

// The methods of one path: a bit per Route::Methods.
using MethodSet = std::uint32_t;
[[nodiscard]] constexpr MethodSet set_of(Route::Methods methods) noexcept {
  return MethodSet{1} << static_cast<unsigned>(methods);
}

// A 405 response that names the methods of a path, as in `GET, HEAD, PUT`.
[[nodiscard]] HttpAnswer refuse_method(MethodSet allowed);

template <class Row>
const Row* HttpRouter<Row>::find(const wire::http1::Request& request, const HostNames& hosts,
                                 std::unique_ptr<HttpAnswer>& refusal) const {
  const auto refuse = [&](HttpAnswer answer) {
    refusal = std::make_unique<HttpAnswer>(std::move(answer));
    return nullptr;
  };
  if (!hosts.accept(request.host)) return refuse(http_problem(421, wrong_host));
  const Row* const row = find_route(rows, without_authority(request.target));
  if (row == nullptr) return refuse(http_problem(404, unknown_path));
  if (row->takes(request.method)) [[likely]]
    return row;
  MethodSet allowed = 0;
  for (const Row& other : rows) {  // a path has a row for each of its methods
    if (other.path != row->path) continue;
    if (other.takes(request.method)) return &other;
    allowed |= set_of(other.methods);
  }
  return refuse(refuse_method(allowed));
}

// The decoded target of a request.
struct Target {
  // Split at the slashes before decoding, so a %2F is part of a name. `/v1/status` has two segments.
  std::vector<std::string> segments;
  std::vector<std::pair<std::string, std::string>> parameters;  // in the order sent
};

// Reads a target in origin or absolute form. Returns nothing if its percent-encoding is invalid.
[[nodiscard]] std::optional<Target> read_target(std::string_view target);

// Returns the segment for each `{name}` of the route, which must match the target.
[[nodiscard]] std::vector<std::string> names_in(const Target& target, const Route& route);

// Returns the value of the only parameter that a path takes; empty if it is absent. Any other parameter is an error.
[[nodiscard]] Result<std::string> sole_parameter(const Target& target, std::string_view name);

}  // namespace weir::frontend
