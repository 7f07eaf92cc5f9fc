// Reads the original request that a proxy describes on /v1/auth. Proxies describe it in one of three ways:
//
//   original    X-Original-Method, X-Original-URI      (nginx, by its configuration)
//   forwarded   X-Forwarded-Method, X-Forwarded-Uri    (Traefik, Caddy)
//   path        the request's own method, and the rest of its path after /v1/auth (Envoy)
//
// A proxy forwards its client's headers, so a client could add the headers of another kind to be evaluated as a cheaper
// request. Therefore all kinds present must agree, unless the configuration selects one.
#pragma once

#include <cstdint>
#include <string_view>

#include "weir/result.h"
#include "wire/http1/request.h"

namespace weir::frontend {

enum class AuthHeaders : std::uint8_t { agreeing, original, forwarded, path };

struct OriginalRequest {
  std::string_view method;
  std::string_view target;
};

// `below` is the rest of the request's target after /v1/auth.
[[nodiscard]] Result<OriginalRequest> original_request(const wire::http1::Request& request, std::string_view below,
                                                       AuthHeaders trusted);

}  // namespace weir::frontend
