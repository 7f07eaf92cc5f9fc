#include "frontend/http/original_request.h"

#include <array>
#include <optional>

#include "base/ascii.h"

namespace weir::frontend {
namespace {

using wire::http1::Request;

struct Kind {
  AuthHeaders kind;
  std::string_view method;  // in lower case
  std::string_view target;
};

constexpr std::array kinds{
    Kind{AuthHeaders::original, "x-original-method", "x-original-uri"},
    Kind{AuthHeaders::forwarded, "x-forwarded-method", "x-forwarded-uri"},
};

// The value of a header that is there once; nothing if it is not there. Twice is a trick.
Result<std::optional<std::string_view>> sole(const Request& request, std::string_view name) {
  std::optional<std::string_view> value;
  for (const Header& header : request.headers) {
    if (!base::equals_name(header.name, name)) continue;
    if (value) return failure(std::string(name), "is there twice; the proxy should set it, not add to it");
    value = header.value;
  }
  return value;
}

std::string_view or_root(std::string_view target) noexcept {
  return target.empty() ? std::string_view("/") : target;
}

Result<std::optional<OriginalRequest>> told(const Request& request, const Kind& kind) {
  const auto target = sole(request, kind.target);
  if (!target) return tl::unexpected(target.error());
  if (!*target) return std::optional<OriginalRequest>();
  const auto method = sole(request, kind.method);
  if (!method) return tl::unexpected(method.error());
  return OriginalRequest{method->value_or(request.method), or_root(**target)};
}

}  // namespace

Result<OriginalRequest> original_request(const Request& request, std::string_view below, AuthHeaders believed) {
  const OriginalRequest own{request.method, or_root(below)};
  if (believed == AuthHeaders::path) return own;
  std::optional<OriginalRequest> found;
  if (believed == AuthHeaders::agreeing && !below.empty()) found = own;
  for (const Kind& kind : kinds) {
    if (believed != AuthHeaders::agreeing && believed != kind.kind) continue;
    const auto one = told(request, kind);
    if (!one) return tl::unexpected(one.error());
    if (!*one) continue;
    if (found && (found->method != (*one)->method || found->target != (*one)->target)) {
      return failure(std::string(kind.target),
                     "says another request than the others; name the kind to believe in listeners.http.auth_headers");
    }
    found = *one;
  }
  if (!found && believed != AuthHeaders::agreeing) {
    return failure("listeners.http.auth_headers", "the headers that it names are not there");
  }
  return found.value_or(own);
}

}  // namespace weir::frontend
