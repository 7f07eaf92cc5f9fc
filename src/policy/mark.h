// A place in a file, as editors count: from one.
#pragma once

#include <compare>

namespace weir::policy {

struct Mark {
  int line = 1;
  int column = 1;

  friend auto operator<=>(const Mark&, const Mark&) = default;
};

// A value, and where it was written.
template <class T>
struct Written {
  T value{};
  Mark at;
};

}  // namespace weir::policy
