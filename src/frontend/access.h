// Which clients a frontend answers: by their token, and by the host name that they called it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weir/header.h"

namespace weir::frontend {

// A secret that a caller shows. Compared in a time that says nothing of it.
class Token {
 public:
  Token() = default;  // none: nothing is asked for
  explicit Token(std::string secret) : secret_(std::move(secret)) {}

  [[nodiscard]] bool is_set() const noexcept { return !secret_.empty(); }
  [[nodiscard]] bool matches(std::string_view shown) const noexcept;

 private:
  std::string secret_;
};

// `Bearer T` -> T; empty if it is something else.
[[nodiscard]] std::string_view bearer(std::string_view authorization) noexcept;

// The first header of that name, which is in lower case; null if there is none.
[[nodiscard]] const Header* find_header(std::span<const Header> headers, std::string_view name) noexcept;

enum class TokenFields : std::uint8_t { weir_token, or_bearer };
// True if one of the headers has the token: X-Weir-Token, and with `or_bearer` also Authorization: Bearer.
[[nodiscard]] bool shows_token(std::span<const Header> headers, const Token& token, TokenFields fields) noexcept;

// The names that an HTTP frontend answers to. A page in somebody's browser can make any name mean this machine, but not
// an address, nor localhost: so these are always good, and others have to be listed.
class HostNames {
 public:
  HostNames() = default;
  // `*`: any. Letter case does not count.
  explicit HostNames(std::vector<std::string> names);

  // A Host field, with or without a port.
  [[nodiscard]] bool accept(std::string_view host) const noexcept;
  // Whether it is one of the names, not only an address or `*`.
  [[nodiscard]] bool lists(std::string_view host) const noexcept;

 private:
  std::vector<std::string> names_;  // in lower case
  bool any_ = false;
};

// Whether a browser sent the request for a page that does not come from here. Such a page cannot read the answer, but
// it can ask. Browsers say so by Sec-Fetch-Site; those that do not, by Origin, which is compared with the Host and the
// names that the frontend answers to. Programs send neither.
[[nodiscard]] bool is_from_other_origin(std::span<const Header> headers, std::string_view host,
                                        const HostNames& names) noexcept;

}  // namespace weir::frontend
