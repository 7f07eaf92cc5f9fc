// SPDX-License-Identifier: Apache-2.0
// A header field, as views.
#pragma once

#include <string_view>

namespace weir {

struct Header {
  std::string_view name;  // in any letter case
  std::string_view value;

  friend bool operator==(const Header&, const Header&) = default;
};

}  // namespace weir
