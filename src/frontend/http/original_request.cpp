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

// Returns the value of a header, or nothing if it is absent. A duplicate is an error: the client may have added it.
Result<std::optional<std::string_view>> sole(const Request& request, std::string_view name) {
  std::optional<std::string_view> value;
  for (const Header& header : request.headers) {
    if (!base::equals_name(header.name, name)) continue;
    if (value) return failure(std::string(name), "duplicate header; the proxy must overwrite it, not append to it");
    value = header.value;
  }
  return value;
}

std::string_view or_root(std::string_view target) noexcept {
  return target.empty() ? std::string_view("/") : target;
}

Result<std::optional<OriginalRequest>> read_kind(const Request& request, const Kind& kind) {
  const auto target = sole(request, kind.target);
  if (!target) return tl::unexpected(target.error());
  if (!*target) return std::optional<OriginalRequest>();
  const auto method = sole(request, kind.method);
  if (!method) return tl::unexpected(method.error());
  return OriginalRequest{method->value_or(request.method), or_root(**target)};
}

}  // namespace

Result<OriginalRequest> original_request(const Request& request, std::string_view below, AuthHeaders trusted) {
  const OriginalRequest own{request.method, or_root(below)};
  if (trusted == AuthHeaders::path) return own;
  std::optional<OriginalRequest> found;
  if (trusted == AuthHeaders::agreeing && !below.empty()) found = own;
  for (const Kind& kind : kinds) {
    if (trusted != AuthHeaders::agreeing && trusted != kind.kind) continue;
    const auto one = read_kind(request, kind);
    if (!one) return tl::unexpected(one.error());
    if (!*one) continue;
    if (found && (found->method != (*one)->method || found->target != (*one)->target)) {
      return failure(
          std::string(kind.target),
          "contradicts the other headers; set listeners.http.auth_headers to the kind that your proxy sends");
    }
    found = *one;
  }
  if (!found && trusted != AuthHeaders::agreeing) {
    return failure("listeners.http.auth_headers", "the request does not have the headers that this setting selects");
  }
  return found.value_or(own);
}

}  // namespace weir::frontend
