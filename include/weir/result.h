// SPDX-License-Identifier: Apache-2.0
// Result<T>: a value, or an Error that says where, what, and what to do. A denial is never an Error; it is a Decision.
#pragma once

#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace weir {

struct Error {
  std::string where;  // the field, file or position that is wrong
  std::string what;   // what is wrong with it, and what to do instead

  [[nodiscard]] std::string message() const { return where + ": " + what; }
};

template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};

inline tl::unexpected<Error> failure(std::string where, std::string what) {
  return tl::unexpected<Error>(Error{std::move(where), std::move(what)});
}

}  // namespace weir
