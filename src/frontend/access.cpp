#include "frontend/access.h"

#include <openssl/crypto.h>

#include <algorithm>

#include "text/address.h"
#include "wire/ascii.h"

namespace weir::frontend {
namespace {

char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// `text` in any letter case, `low` in lower case.
bool equals(std::string_view text, std::string_view low) noexcept {
  return std::ranges::equal(text, low, {}, lower);
}

bool is_digits(std::string_view text) noexcept {
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// Without `:port`, and without the brackets of an IPv6 address.
std::string_view without_port(std::string_view host) noexcept {
  const std::size_t colon = host.rfind(':');
  if (colon != std::string_view::npos && is_digits(host.substr(colon + 1))) host = host.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  return host;
}

}  // namespace

bool Token::matches(std::string_view shown) const noexcept {
  return is_set() && shown.size() == secret_.size() && CRYPTO_memcmp(shown.data(), secret_.data(), shown.size()) == 0;
}

std::string_view bearer(std::string_view authorization) noexcept {
  constexpr std::string_view scheme = "bearer ";
  if (authorization.size() <= scheme.size() || !equals(authorization.substr(0, scheme.size()), scheme)) return {};
  authorization.remove_prefix(scheme.size());
  return authorization;
}

const Header* find_header(std::span<const Header> headers, std::string_view name) noexcept {
  const auto found = std::ranges::find_if(
      headers, [&](const Header& header) { return wire::equals_ignoring_case(header.name, name); });
  return found == headers.end() ? nullptr : &*found;
}

bool shows_token(std::span<const Header> headers, const Token& token, TokenFields fields) noexcept {
  return std::ranges::any_of(headers, [&](const Header& header) {
    if (equals(header.name, "x-weir-token") && token.matches(header.value)) return true;
    return fields == TokenFields::or_bearer && equals(header.name, "authorization") &&
           token.matches(bearer(header.value));
  });
}

HostNames::HostNames(std::vector<std::string> names) : names_(std::move(names)) {
  for (std::string& name : names_) {
    any_ = any_ || name == "*";
    std::ranges::transform(name, name.begin(), lower);
  }
}

bool HostNames::lists(std::string_view host) const noexcept {
  const std::string_view name = without_port(host);
  return std::ranges::any_of(names_, [&](const std::string& known) { return equals(name, known); });
}

bool HostNames::accept(std::string_view host) const noexcept {
  if (any_ || host.empty()) return true;  // no browser leaves it out
  const std::string_view name = without_port(host);
  if (equals(name, "localhost") || text::Address::parse(name)) return true;
  return lists(host);
}

bool is_from_other_origin(std::span<const Header> headers, std::string_view host, const HostNames& names) noexcept {
  const Header* const site = find_header(headers, "sec-fetch-site");
  if (site != nullptr) return !equals(site->value, "same-origin") && !equals(site->value, "none");
  return std::ranges::any_of(headers, [&](const Header& header) {
    if (!equals(header.name, "origin")) return false;
    const std::size_t scheme = header.value.find("://");
    if (scheme == std::string_view::npos) return true;  // null, for one
    const std::string_view authority = header.value.substr(scheme + 3);
    const bool is_own = !host.empty() && std::ranges::equal(authority, host, {}, lower, lower);
    return !is_own && !names.lists(authority);
  });
}

}  // namespace weir::frontend
