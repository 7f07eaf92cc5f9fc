// Access control of the frontends: tokens, host names and browser origins.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weir/header.h"

namespace weir::frontend {

// A shared secret, or several of which each is accepted, compared in constant time.
class Token {
 public:
  Token() = default;  // no token is required
  explicit Token(std::string secret) {
    if (!secret.empty()) secrets_.push_back(std::move(secret));
  }
  explicit Token(std::vector<std::string> secrets) : secrets_(std::move(secrets)) {}

  [[nodiscard]] bool is_set() const noexcept { return !secrets_.empty(); }
  [[nodiscard]] bool matches(std::string_view sent) const noexcept;

 private:
  std::vector<std::string> secrets_;
};

// A line of the admin token file.
struct NamedToken {
  enum class Role : std::uint8_t { read, write };

  std::string name;
  std::string secret;
  Role role = Role::write;
};

// Returns T from `Bearer T`; empty for any other scheme.
[[nodiscard]] std::string_view bearer(std::string_view authorization) noexcept;

// Finds the first header with this lower-case name; null if there is none.
[[nodiscard]] const Header* find_header(std::span<const Header> headers, std::string_view name) noexcept;

enum class TokenFields : std::uint8_t { weir_token, or_bearer };
// True if X-Weir-Token or, with `or_bearer`, Authorization: Bearer carries the token.
[[nodiscard]] bool has_token(std::span<const Header> headers, const Token& token, TokenFields fields) noexcept;

// The host names that an HTTP frontend accepts. They defend against DNS rebinding: a page in a browser can make any
// name resolve to this machine, but not an address or localhost. So addresses and localhost are always accepted; other
// names must be listed.
class HostNames {
 public:
  HostNames() = default;
  // `*` accepts any name. Names are not case-sensitive.
  explicit HostNames(std::vector<std::string> names);

  // `host` is a Host field, with or without a port.
  [[nodiscard]] bool accept(std::string_view host) const noexcept;
  // True only for listed names, not for addresses or a match by `*`.
  [[nodiscard]] bool lists(std::string_view host) const noexcept;

 private:
  std::vector<std::string> names_;  // in lower case
  bool any_ = false;
};

// True if a browser sent the request on behalf of a page of another origin, which can cause the request but cannot read
// the response. This is decided by Sec-Fetch-Site or, in browsers without it, by comparing Origin with the Host and the
// accepted names. Other programs send neither.
[[nodiscard]] bool is_from_other_origin(std::span<const Header> headers, std::string_view host,
                                        const HostNames& names) noexcept;

}  // namespace weir::frontend
