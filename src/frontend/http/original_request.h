// What a proxy asks about on /v1/auth: the request that it holds, told in the ways that proxies have.
//
//   original    X-Original-Method, X-Original-URI      (nginx, by its configuration)
//   forwarded   X-Forwarded-Method, X-Forwarded-Uri    (Traefik, Caddy)
//   path        the request's own method, and what follows /v1/auth in its path (Envoy)
//
// A proxy passes on what its client sent, so a client could add a header of another proxy's kind and be evaluated as
// asking for something cheaper. Therefore all that is told has to agree, unless it is known which kind to believe.
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

// `below`: what follows /v1/auth in the request's target.
[[nodiscard]] Result<OriginalRequest> original_request(const wire::http1::Request& request, std::string_view below,
                                                       AuthHeaders believed);

}  // namespace weir::frontend
