#include "frontend/access.h"

#include <openssl/crypto.h>

#include <algorithm>

#include "base/ascii.h"
#include "text/address.h"

namespace weir::frontend {
namespace {

// Removes `:port` and the brackets of an IPv6 address.
std::string_view without_port(std::string_view host) noexcept {
  const std::size_t colon = host.rfind(':');
  if (colon != std::string_view::npos && std::ranges::all_of(host.substr(colon + 1), base::is_digit))
    host = host.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  return host;
}

}  // namespace

bool Token::matches(std::string_view sent) const noexcept {
  return std::ranges::any_of(secrets_, [&](const std::string& secret) {
    return sent.size() == secret.size() && CRYPTO_memcmp(sent.data(), secret.data(), sent.size()) == 0;
  });
}

std::string_view bearer(std::string_view authorization) noexcept {
  constexpr std::string_view scheme = "bearer ";
  if (authorization.size() <= scheme.size() || !base::equals_lower(authorization.substr(0, scheme.size()), scheme))
    return {};
  authorization.remove_prefix(scheme.size());
  return authorization;
}

const Header* find_header(std::span<const Header> headers, std::string_view name) noexcept {
  const auto found =
      std::ranges::find_if(headers, [&](const Header& header) { return base::equals_name(header.name, name); });
  return found == headers.end() ? nullptr : &*found;
}

bool has_token(std::span<const Header> headers, const Token& token, TokenFields fields) noexcept {
  return std::ranges::any_of(headers, [&](const Header& header) {
    if (base::equals_lower(header.name, "x-weir-token") && token.matches(header.value)) return true;
    return fields == TokenFields::or_bearer && base::equals_lower(header.name, "authorization") &&
           token.matches(bearer(header.value));
  });
}

HostNames::HostNames(std::vector<std::string> names) : names_(std::move(names)) {
  for (std::string& name : names_) {
    any_ = any_ || name == "*";
    name = base::lower(name);
  }
}

bool HostNames::lists(std::string_view host) const noexcept {
  const std::string_view name = without_port(host);
  return std::ranges::any_of(names_, [&](const std::string& known) { return base::equals_lower(name, known); });
}

bool HostNames::accept(std::string_view host) const noexcept {
  if (any_ || host.empty()) return true;  // a request without Host is not from a browser
  const std::string_view name = without_port(host);
  if (base::equals_lower(name, "localhost") || text::Address::parse(name)) return true;
  return lists(host);
}

bool is_from_other_origin(std::span<const Header> headers, std::string_view host, const HostNames& names) noexcept {
  const Header* const site = find_header(headers, "sec-fetch-site");
  if (site != nullptr)
    return !base::equals_lower(site->value, "same-origin") && !base::equals_lower(site->value, "none");
  return std::ranges::any_of(headers, [&](const Header& header) {
    if (!base::equals_lower(header.name, "origin")) return false;
    const std::size_t scheme = header.value.find("://");
    if (scheme == std::string_view::npos) return true;  // an origin without a scheme, such as `null`, is another origin
    const std::string_view authority = header.value.substr(scheme + 3);
    const bool is_own = !host.empty() && base::equals_ignoring_case(authority, host);
    return !is_own && !names.lists(authority);
  });
}

}  // namespace weir::frontend
