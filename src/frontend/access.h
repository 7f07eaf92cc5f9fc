// Which clients a frontend answers: by their token, and by the host name that they called it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

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

// The names that an HTTP frontend answers to. A page in somebody's browser can make any name mean this machine, but not
// an address, nor localhost: so these are always good, and others have to be listed.
class HostNames {
 public:
  HostNames() = default;
  // `*`: any. Letter case does not count.
  explicit HostNames(std::vector<std::string> names);

  // A Host field, with or without a port.
  [[nodiscard]] bool accept(std::string_view host) const noexcept;

 private:
  std::vector<std::string> names_;  // in lower case
  bool any_ = false;
};

}  // namespace weir::frontend
