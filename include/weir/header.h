// A header field of a request. Views only.
#pragma once

#include <string_view>

namespace weir {

struct Header {
  std::string_view name;  // in any letter case
  std::string_view value;

  friend bool operator==(const Header&, const Header&) = default;
};

}  // namespace weir
