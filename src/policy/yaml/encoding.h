// What a text has to be before anyone looks for structure in it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/mark.h"

namespace weir::policy::yaml {

// Where the lines and the characters of a text lie among its bytes.
class Places {
 public:
  explicit Places(std::string_view text);

  // Editors count characters, not bytes.
  [[nodiscard]] Mark at(std::size_t offset) const noexcept;

 private:
  std::vector<std::size_t> lines_;        // where each begins
  std::vector<std::size_t> within_ones_;  // bytes that continue a character
};

struct BadByte {
  std::size_t offset = 0;
  std::string what;
};

// The first byte that is not UTF-8 or that no text has (NUL and other control characters).
[[nodiscard]] std::optional<BadByte> find_bad_byte(std::string_view text);

// JSON writes characters beyond 16 bits as two escapes, \ud83d\ude00, which YAML does not have: as YAML writes them.
// That is two bytes less: what follows in the same line is said to be two columns to the left of where it is.
[[nodiscard]] std::string with_yaml_escapes(std::string_view json);

}  // namespace weir::policy::yaml
