// The paths of the HTTP listener, and what each of them takes. docs/openapi.yaml has the same: a test compares them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "frontend/http/check_json.h"
#include "frontend/openapi.h"

namespace weir::frontend {

struct Route {
  enum class Kind : std::uint8_t { auth, check, descriptors, health, document };
  enum class Methods : std::uint8_t { any, post, get };  // GET and HEAD

  std::string_view path;  // as OpenAPI writes it
  Methods methods;
  Kind kind;
  CheckKind check = CheckKind::check;  // of a check
};

inline constexpr std::string_view auth_path = "/v1/auth";

inline constexpr std::array<Route, 12> http_routes{{
    {auth_path, Route::Methods::any, Route::Kind::auth},
    {"/v1/auth/{path}", Route::Methods::any, Route::Kind::auth},  // with all slashes that follow
    {"/v1/check", Route::Methods::post, Route::Kind::check, CheckKind::check},
    {"/v1/report", Route::Methods::post, Route::Kind::check, CheckKind::report},
    {"/v1/settle", Route::Methods::post, Route::Kind::check, CheckKind::settle},
    {"/v1/release", Route::Methods::post, Route::Kind::check, CheckKind::release},
    {"/v1/extend", Route::Methods::post, Route::Kind::check, CheckKind::extend},
    {"/json", Route::Methods::post, Route::Kind::descriptors},
    {"/healthz", Route::Methods::get, Route::Kind::health},
    {"/readyz", Route::Methods::get, Route::Kind::health},
    {"/healthcheck", Route::Methods::get, Route::Kind::health},
    {openapi_path, Route::Methods::get, Route::Kind::document},
}};

// By a target without its authority. Null: there is none.
[[nodiscard]] const Route* find_http_route(std::string_view target) noexcept;

// Health and the document ask nobody for a token.
[[nodiscard]] constexpr bool asks_for_token(Route::Kind kind) noexcept {
  return kind != Route::Kind::health && kind != Route::Kind::document;
}

// For a caller whose path is not there.
inline constexpr std::string_view what_http_has =
    "There are POST /v1/check, /v1/report, /v1/settle, /v1/release and /v1/extend, /v1/auth, POST /json, GET /healthz, "
    "/readyz and /openapi.yaml.";

}  // namespace weir::frontend
